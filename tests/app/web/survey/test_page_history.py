"""What the browser itself keeps of an invitation: its own history is out of a page's reach."""

import sqlite3

import pytest

from tests.app.web.survey.stub_server import StubServer
from tests.app.web.survey.surveys_to_take import answer, begin, manifest_of, send
from tools.browser import OPTIONS
from tools.system import find

pytestmark = pytest.mark.needs("chromium")

TOKEN = "0123456789abcdef" * 2


def visit(chromium, profile, take):
    """A person with a browser of their own, which keeps a history. All files that hold the
    invitation when it has ended, by name, and the addresses in the history."""
    kind = chromium.browser_type
    options = {"executable_path": find("chromium"), "args": [*OPTIONS, "--headless=new"]}
    context = kind.launch_persistent_context(profile, headless=False, **options)
    take(context.new_page())
    context.close()
    files = [path for path in profile.rglob("*") if path.is_file() and not path.is_symlink()]
    holding = {path.name for path in files if TOKEN.encode() in path.read_bytes()}
    history = sqlite3.connect(profile / "Default" / "History")
    listed = [row[0] for row in history.execute("SELECT url FROM urls")]
    history.close()
    return holding, listed


@pytest.fixture
def survey():
    manifest = manifest_of(mode="token")
    with StubServer.of_survey(manifest) as server:
        yield server, f"{TOKEN}.{manifest.hash}"


def test_a_link_stays_in_the_history_of_the_browser(chromium, survey, tmp_path):
    """A page can remove it from its tab, not from there: the documentation says so. Should a
    browser change, this test tells."""
    server, code = survey

    def take(page):
        page.goto(f"{server.address}#{code}")
        begin(page)
        answer(page, doped=1)
        send(page)
        assert "#" not in page.url
        page.goto("about:blank")
        page.go_back()
        assert "#" not in page.url  # Back does not show it either

    holding, listed = visit(chromium, tmp_path / "profile", take)
    assert f"{server.address}#{code}" in listed
    assert "History" in holding


def test_a_pasted_invitation_is_in_no_history(chromium, survey, tmp_path):
    server, code = survey

    def take(page):
        page.goto(server.address)
        page.fill("[data-part=pasted]:visible", code)
        page.click("[data-part=take]")
        begin(page)
        answer(page, doped=1)
        send(page)
        assert TOKEN in server.sent()[0].decode()

    holding, listed = visit(chromium, tmp_path / "profile", take)
    assert server.address in listed
    assert not any(TOKEN in address for address in listed)
    assert not {"History", "History-journal", "Web Data", "Preferences"} & holding
