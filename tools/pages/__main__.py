"""The documentation as a site, in build/site.

python -m tools.pages [--zensical] [--no-notebooks]
"""

import subprocess
import sys
from pathlib import Path

from tools.pages.assembly import ROOT, assemble, fresh_pictures

SOURCE = ROOT / "build" / "docs"
SITE = ROOT / "build" / "site"


def main(words: list[str]) -> int:
    """Gathers the pages and builds the site. The status is that of the builder."""
    pictures = fresh_pictures(ROOT / "build" / "figures")
    assemble(SOURCE, pictures, notebooks="--no-notebooks" not in words)
    builder = Path(sys.executable).with_name("zensical" if "--zensical" in words else "mkdocs")
    status = subprocess.call([builder, "build", "--strict", *quiet(builder)], cwd=ROOT)
    if status == 0:
        print("The documentation is in build/site. Open build/site/index.html in a browser;")
        print("pages and search need no server and no network.")
    return status


def quiet(builder: Path) -> list[str]:
    """What makes a builder say only what is wrong."""
    return ["--quiet"] if builder.name == "mkdocs" else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
