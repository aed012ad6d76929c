import pytest

from tools.postgresql import empty_place, server


@pytest.fixture(scope="session")
def survey_postgresql():
    """The socket's folder of a PostgreSQL server that runs as long as the tests."""
    with server(fsync="off") as folder:
        yield folder


@pytest.fixture(
    params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))]
)
def where(request, tmp_path):
    """Where a survey's reports are stored: a file, or an address in PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return empty_place(request.getfixturevalue("survey_postgresql"))
