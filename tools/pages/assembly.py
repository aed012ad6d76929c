"""Gathers all pages into one folder: those of docs/, and those that are made from the code."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from deniable.app.web.error_pages import error_pages
from deniable.figures.gallery import draw
from tools import notebook
from tools.pages import api, commands, comparison, errors, functions, gallery, policy_keys

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Files at the top of the repository that are pages of the site too.
OUTSIDE = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CITATION.cff": "project/CITATION.cff",
}
# A word for what runs the block.
_MARKED = re.compile(r"^( *```(?:sh|python|console)) \w+$", re.MULTILINE)
_HIDDEN = re.compile(r"^<!-- first\n.*?^-->\n+", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def assemble(target: Path, pictures: Path, *, notebooks: bool = True) -> None:
    """Writes every page of the site below a folder, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DOCS, target, ignore=shutil.ignore_patterns("*.md"))
    for path in sorted(DOCS.rglob("*.md")):
        _write(
            target / path.relative_to(DOCS), _relink(path, path.relative_to(DOCS).as_posix())
        )
    for name, place in OUTSIDE.items():
        _write(target / place, _relink(ROOT / name, place))
    for place, content in made_pages(pictures):
        _write(target / place, content)
    for page in tutorials():
        _write(target / notebook_place(page), _run_notebook(page) if notebooks else "{}")


def made_pages(pictures: Path) -> Iterator[tuple[str, str | bytes]]:
    """What is made from the code, by its place."""
    for module in (api, commands, comparison, errors, functions, policy_keys):
        yield from module.write_pages().items()
    yield from gallery.write_pages(pictures).items()


def made_places() -> set[str]:
    """The places that links may name although docs/ has no such file."""
    rooms = {f"{api.FOLDER}/{room}.md" for room in [*api.ROOMS, "index"]}
    pages = {f"{errors.FOLDER}/{name}.md" for name in [*error_pages(), "index"]}
    single = {commands.PATH, comparison.PATH, functions.PATH}
    single |= {policy_keys.PATH, gallery.PATH}
    return rooms | pages | single | {notebook_place(page) for page in tutorials()}


def tutorials() -> list[Path]:
    """The pages of which a notebook is made."""
    pages = (DOCS / "tutorials").glob("*.md")
    return sorted(page for page in pages if page.stem != "index")


def notebook_place(page: Path) -> str:
    """Where the notebook of a tutorial is, below docs/."""
    return f"notebooks/{page.stem}.ipynb"


def fresh_pictures(folder: Path) -> Path:
    """The folder with all pictures, drawn again if one is missing or older than its code."""
    code = max(path.stat().st_mtime for path in (ROOT / "src/deniable/figures").glob("*.py"))
    drawn = [folder / f"{name}.svg" for name in gallery.sources()]
    if not all(path.exists() and path.stat().st_mtime > code for path in drawn):
        draw(folder)
    return folder


def _run_notebook(page: Path) -> str:
    parts = notebook.cells(page.read_text(encoding="utf-8"))
    outputs = notebook.run_cells([text for kind, text in parts if kind == "code"])
    document = notebook.notebook(parts, outputs)
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _relink(path: Path, place: str) -> str:
    """A page whose links to files outside of docs/ name their place on the site."""
    text = path.read_text(encoding="utf-8")
    here = Path(place).parent

    def relinked(link: re.Match[str]) -> str:
        aimed = Path(os.path.normpath(path.parent / link[2]))
        inside = aimed.is_relative_to(DOCS)
        there = aimed.relative_to(DOCS) if inside else OUTSIDE.get(aimed.name, "index.md")
        return f"{link[1]}{os.path.relpath(there, here)}{link[3] or ''})"

    if path.suffix != ".md":
        return text
    return _LINK.sub(relinked, _MARKED.sub(r"\1", _HIDDEN.sub("", text)))


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8")
