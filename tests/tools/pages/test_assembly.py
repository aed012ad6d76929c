"""Pages are gathered with links that hold on the site; notebooks are made of tutorials."""

import json
import re

from tools.pages.assembly import DOCS, OUTSIDE, ROOT, _relink, notebook_place, tutorials


def test_links_out_of_the_folder_become_links_of_the_site():
    text = _relink(DOCS / "index.md", "index.md")
    assert "(project/security.md)" in text
    assert "](../" not in text
    assert all((ROOT / name).exists() for name in OUTSIDE)


def test_words_for_tests_are_left_out_of_fences():
    assert "```sh background" in (DOCS / "tutorials" / "first-server.md").read_text()
    assert "```sh background" not in _relink(
        DOCS / "tutorials" / "first-server.md", "tutorials/first-server.md"
    )


def test_every_tutorial_is_offered_as_a_notebook():
    index = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert len(tutorials()) >= 8
    for page in tutorials():
        assert f"(../{notebook_place(page)})" in index


def test_a_notebook_holds_what_its_cells_printed(tmp_path):
    from tools.pages.assembly import _run_notebook

    notebook = json.loads(_run_notebook(DOCS / "tutorials" / "first-number.md"))
    shown = [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        for output in cell["outputs"]
    ]
    assert ["6"] in shown


def test_the_site_follows_the_scheme_of_the_system():
    """A browser keeps the first palette that it is shown, so that must not be a scheme."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert re.findall(r'- media: "\((.*?)\)"', menu) == [
        "prefers-color-scheme",
        "prefers-color-scheme: light",
        "prefers-color-scheme: dark",
    ]


def test_every_page_is_in_the_menu_or_linked_from_an_index():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert [page for page in pages if f" {page}\n" not in menu] == []
