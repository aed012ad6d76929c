"""One server with a console for each module of browser tests."""

from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from deniable.app.server.accounts.browser_sessions import COOKIE
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions.opened_server import make_server
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.server_settings import ServerSettings
from tools.console_server import add_people, write_small_hospital


class Visitor:
    """A person who looks at pages in a browser without JavaScript."""

    def __init__(self, client, session):
        self.client, self.session = client, session

    def _send(self, method, path, **how):
        self.client.cookies.clear()
        if self.session:
            self.client.cookies.set(COOKIE, self.session)
        headers = {"Sec-Fetch-Site": "same-origin"} | how.pop("headers", {})
        return self.client.request(method, path, headers=headers, follow_redirects=False, **how)

    def get(self, path, **how):
        return self._send("GET", path, **how)

    def post(self, path, fields=None, **how):
        return self._send("POST", path, data=fields or {}, **how)

    def token(self, path="/console"):
        """The token of the forms on this person's pages."""
        return self.get(path).text.split('name="form_token" value="')[1].split('"')[0]

    def submit(self, path, **fields):
        """Sends a form of a page of ours."""
        return self.post(path, fields | {"form_token": self.token()})


def wait_for(visitor, address):
    """The page of an answer. One look waits for it for some seconds only."""
    while "is on its way" in (page := visitor.get(address)).text:
        pass
    return page


class Hospital:
    """A console in this process."""

    def __init__(self, file, client, identities):
        self.file, self.client, self.identities = file, client, identities

    def visitor(self, name):
        """A person who is logged in; nobody for an empty name."""
        return Visitor(self.client, name and self.identities.sessions.begin(name))


@contextmanager
def open_hospital(folder, *, hospital=None, **changes):
    """A console about made-up visits."""
    file = write_small_hospital(folder, **(hospital or {}))
    database = file.parent.parent / "server.sqlite"
    usual = {"padded": False, "limits": QueueLimits(places=1)}
    settings = ServerSettings((file,), database=database, **(usual | changes))
    application = make_server(settings, https=False)
    add_people(database)
    with TestClient(application, base_url="https://localhost") as client:
        yield Hospital(file, client, Identities(ServerDatabase(database)))


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    with open_hospital(tmp_path_factory.mktemp("console")) as hospital:
        yield hospital
