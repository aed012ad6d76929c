import datetime

import pytest

from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.passwords import Passwords
from deniable.app.server.accounts.server_database import ServerDatabase

NOW = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)


class Clock:
    """A clock that tests turn."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now

    def turn(self, **by):
        self.now += datetime.timedelta(**by)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def identities(tmp_path, clock):
    database = ServerDatabase(tmp_path / "server.sqlite")
    yield Identities(database, clock=clock)
    database.close()


@pytest.fixture(scope="session")
def passwords():
    """Argon2id as it is, with little memory so that tests are fast."""
    return Passwords(memory=64)
