"""`make screens`: everything that people look at, written into build/screens to be looked at.

Each part is a module with `write(folder)`, which writes its pictures or pages below the folder.
`python -m tools.screens console` writes one part.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "build" / "screens"

# What is written, by the name of its folder, and the module that writes it.
PARTS = {
    "console": "tools.console_screens",
    "figures": "tools.picture_screens",
    "pages": "tools.page_screens",
    "site": "tools.pages.screens",
}


def main(names: Sequence[str]) -> int:
    """Writes the named parts, or all."""
    unknown = set(names) - set(PARTS)
    if unknown:
        print(f"Unknown: {', '.join(sorted(unknown))}. Parts are: {', '.join(PARTS)}.")
        return 1
    for name in names or PARTS:
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.png"):
            old.unlink()
        import_module(PARTS[name]).write(folder)
        print(f"{len(list(folder.iterdir())):>4} files in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
