import pytest

from tools.postgresql import empty_place, server


@pytest.fixture(scope="session")
def postgresql():
    """The socket's folder of a PostgreSQL server that runs as long as the tests."""
    with server() as folder:
        yield folder


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def place(request, tmp_path):
    """Makes places for fresh ledgers: where each is, and its key."""
    if request.param == "postgresql":
        folder = request.getfixturevalue("postgresql")
    count = iter(range(10**6))

    def fresh():
        name = tmp_path / str(next(count))
        if request.param == "sqlite":
            return {"where": name.with_suffix(".sqlite"), "key": name.with_suffix(".key")}
        return {"where": empty_place(folder), "key": name.with_suffix(".key")}

    return fresh
