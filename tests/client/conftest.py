import pytest

import deniable as dp
from deniable.policy import Policy, load
from deniable.release.public_session import Session
from deniable.release.session.connecting import connect
from tests.app.server.questions.asking import write_hospital
from tests.client.contract import REFUSED
from tools.postgresql import empty_place, server


@pytest.fixture(scope="session", autouse=True)
def children(warm_children):
    """Servers in this process fork their children."""


@pytest.fixture(scope="session")
def client_postgresql():
    """The socket's folder of a PostgreSQL server that runs as long as the tests."""
    with server(fsync="off") as folder:
        yield folder


@pytest.fixture(scope="session")
def new_ledger(client_postgresql):
    """`new_ledger()`: lines of a policy that name a new ledger in PostgreSQL."""
    return lambda: f'[ledger]\nstore = "{empty_place(client_postgresql)}"'


def open_in_memory(folder):
    """The hospital, with a ledger that is forgotten."""
    declared = load(str(write_hospital(folder, epsilon=50)))
    policy = Policy(
        declared.tables, epsilon=declared.epsilon, delta=declared.delta, ledger=None
    )
    return connect(policy, Session)


@pytest.fixture(scope="session")
def words_of_memory(tmp_path_factory):
    """What a session with a ledger in memory says to each refused question."""
    said = {}
    with open_in_memory(tmp_path_factory.mktemp("words")) as session:
        for what, ask in REFUSED.items():
            try:
                ask(session)
            except (dp.DeniableError, TypeError) as refusal:
                said[what] = type(refusal).__name__, str(refusal)
    assert said.keys() == REFUSED.keys()
    return said
