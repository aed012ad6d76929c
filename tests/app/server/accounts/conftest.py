import datetime
import secrets

import psycopg
import pytest

from deniable.app.server.accounts.account_stores import open_store
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.passwords import Passwords
from tools.postgresql import address

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


@pytest.fixture(scope="session")
def new_place(server_postgresql):
    """`new_place()`: an empty schema of a database that no ledger is in."""
    with psycopg.connect(address(server_postgresql), autocommit=True) as connection:
        connection.execute("CREATE DATABASE people")
    there = address(server_postgresql).replace("/postgres?", "/people?")
    return lambda: f"{there}#place_{secrets.token_hex(8)}"


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def place(request, tmp_path):
    """Where people are kept."""
    if request.param == "sqlite":
        return tmp_path / "server.sqlite"
    return request.getfixturevalue("new_place")()


@pytest.fixture
def identities(place, clock):
    store = open_store(place)
    yield Identities(store, clock=clock)
    store.close()


@pytest.fixture
def dump(identities):
    """`dump()`: all that is stored, as text."""

    def dump():
        with identities.people.database.reading() as connection:
            return "\n".join(
                f"{table} {row}"
                for table in ("people", "subjects", "tokens", "sessions", "tries", "logins")
                for row in connection.execute(f"SELECT * FROM {table}").fetchall()
            )

    return dump


@pytest.fixture(scope="session")
def passwords():
    """Argon2id as it is, with little memory so that tests are fast."""
    return Passwords(memory=64)
