import pytest

from tools.postgresql import server


@pytest.fixture(scope="session")
def postgresql():
    """The socket's folder of a PostgreSQL server that runs as long as the tests."""
    with server() as folder:
        yield folder
