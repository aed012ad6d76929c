import pytest

from tools.postgresql import empty_place, server


@pytest.fixture(scope="session", autouse=True)
def children(warm_children):
    """Servers in this process fork their children."""


@pytest.fixture(scope="session")
def server_postgresql():
    """The socket's folder of a PostgreSQL server that runs as long as the tests."""
    with server(fsync="off") as folder:
        yield folder


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def store(request):
    """Where a survey's reports are stored; None for a file in its folder."""
    if request.param == "sqlite":
        return None
    return empty_place(request.getfixturevalue("server_postgresql"))
