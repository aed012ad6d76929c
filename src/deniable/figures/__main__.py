"""Draws the gallery into a folder: `python -m deniable.figures FOLDER`."""

import sys

from deniable.figures.gallery import draw

if __name__ == "__main__":
    for path in draw(sys.argv[1] if len(sys.argv) > 1 else "build/figures"):
        print(path)
