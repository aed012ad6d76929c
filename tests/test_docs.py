"""Every Python snippet and command in README.md, CONTRIBUTING.md and docs/ runs, and prints
what the page shows.

A Python block with `>>>` is a doctest, any other is executed; a file is one namespace and one
folder. Commands stand in `console` blocks; what cannot be run here is `console elsewhere`, and
its commands and options must exist.
"""

import doctest
import re
from pathlib import Path

import pytest

from tools.pages.assembly import made_places
from tools.pages.console_blocks import commands, unknown_options
from tools.pages.snippets import describe_difference, run_page, snippets

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def run(text, name):
    """Runs a page's snippets in order, compares their outputs with the shown ones, and returns
    how many snippets there were."""
    count = 0
    for count, (snippet, printed) in enumerate(run_page(text, name), start=1):  # noqa: B007
        if snippet.shown is not None:
            difference = describe_difference(snippet.shown, printed)
            assert difference is None, f"{name}, below line {snippet.line}: {difference}"
    return count


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_snippets_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page.read_text(encoding="utf-8"), str(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_that_are_not_run_exist(page):
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^ *```console elsewhere\n(.*?)^ *```$", text, re.M | re.S):
        lines = commands(re.sub(r"^ +(?=\$)", "", block, flags=re.M))
        assert lines, block
        for command in lines:
            assert list(unknown_options(command.text)) == [], command.text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_stands_in_a_block_that_is_looked_at(page):
    """A `text` block is never looked at, so it holds no command of ours."""
    text = page.read_text(encoding="utf-8")
    unseen = re.findall(r"^ *```text\n(?:(?! *```).*\n)*? *(?:\$ |deniable ).*$", text, re.M)
    assert unseen == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "SECURITY.md", ROOT / "CHANGELOG.md"])
def test_every_path_on_a_page_exists(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|tools|docs|benchmarks)/[\w./-]+)`", text)
    linked = [
        (page.parent / link).resolve().relative_to(ROOT).as_posix()
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    ]
    built = {f"docs/{place}" for place in made_places()}  # when the site is built
    there = {path for path in [*named, *linked] if (ROOT / path).exists()}
    assert {*named, *linked} - there - built == set()


def test_the_readme_is_short_enough_to_be_read():
    assert len((ROOT / "README.md").read_bytes()) <= 6_500


def test_the_readme_has_an_example():
    assert snippets((ROOT / "README.md").read_text(encoding="utf-8"))


def test_blocks_share_one_namespace():
    page = "```python\nx = 2\n```\ntext\n  ```python\n  >>> y = x + 1\n  >>> y\n  3\n  ```\n"
    assert run(page + "```python\nassert y == 3\n```\n", "page") == 3


@pytest.mark.parametrize("shown", ["2 left", "1 were left\nmore", "were left"])
def test_a_wrong_output_is_seen(shown):
    page = "```python\nprint('3 were left')\n```\n\n```text\n{}\n```\n"
    with pytest.raises(AssertionError, match="below line 2"):
        run(page.format(shown), "page")
    assert run(page.format("9,500 were left\n..."), "page") == 1


@pytest.mark.parametrize("code", ["assert 1 == 2", ">>> 1 + 1\n3", ">>> 1 / 0", "1 / 0"])
def test_a_wrong_snippet_is_seen(code):
    with pytest.raises(
        (AssertionError, ZeroDivisionError, doctest.DocTestFailure, doctest.UnexpectedException)
    ):
        run(f"```python\n{code}\n```\n", "page")


def test_other_fences_are_left_alone():
    assert run("```\n1 / 0\n```\n```console elsewhere\n$ make test\n```\n", "page") == 0


def test_a_wrong_output_of_a_command_is_seen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = "```console\n$ deniable odds 1\n...\n$ echo 3 left\n{}\n$ ls\n```\n"
    assert run(page.format("9 left"), "page") == 3
    with pytest.raises(AssertionError, match="# right"):
        run(page.format("9 right"), "page")


@pytest.mark.parametrize("command", ["deniable odds", "deniable sql x", "false", "ls nothing"])
def test_a_command_that_fails_is_seen(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, RuntimeError), match=command.split()[0]):
        run(f"```console\n$ {command}\n```\n", "page")


def test_what_must_be_there_first_is_run_and_not_shown():
    assert run("<!-- first\nx = 1\n-->\n\n```python\nassert x == 1\n```\n", "page") == 2
