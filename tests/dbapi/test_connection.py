import pytest

import deniable as dp
from deniable import dbapi


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "visits.csv").write_text("ward\n" + "A\nB\n" * 50)
    file = tmp_path / "deniable.toml"
    file.write_text('[budget]\nepsilon = 1\n[tables.visits]\nsource = "visits.csv"\n')
    return file


def test_a_file_is_opened_and_closed(policy):
    with dbapi.connect(str(policy)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT COUNT(*) AS n FROM visits EPSILON 0.5")
        assert cursor.rowcount == 1
        connection.rollback()  # undoes nothing
        connection.commit()
        assert connection.session.remaining.epsilon == dp.open(str(policy)).remaining.epsilon
        assert float(connection.session.remaining.epsilon) == 0.5
    for act in (
        connection.cursor,
        lambda: cursor.execute("SELECT 1"),
        lambda: connection.session,
    ):
        with pytest.raises(dbapi.InterfaceError, match="closed"):
            act()
    connection.close()


def test_a_session_that_was_given_stays_open(policy):
    with dp.open(str(policy)) as session:
        dbapi.connect(session=session).close()
        assert session.remaining.epsilon == 1


def test_what_cannot_be_opened_is_said(policy, tmp_path, monkeypatch):
    for arguments in ({}, {"address": "x", "session": object()}):
        with pytest.raises(dbapi.InterfaceError, match="either"):
            dbapi.connect(**arguments)
    with pytest.raises(dbapi.InterfaceError, match="needs no token"):
        dbapi.connect(str(policy), token="x")
    monkeypatch.delenv("DENIABLE_TOKEN", raising=False)
    with pytest.raises(dbapi.InterfaceError, match="DENIABLE_TOKEN"):
        dbapi.connect("https://stats.example/hospital")
    with pytest.raises(dbapi.Error):
        dbapi.connect(str(tmp_path / "missing.toml"))


def test_the_module_is_what_pep_249_asks_for():
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "qmark")
    for name in ("InterfaceError", "DatabaseError"):
        assert issubclass(getattr(dbapi, name), dbapi.Error)
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)
    for name in (
        "DataError",
        "OperationalError",
        "IntegrityError",
        "InternalError",
        "ProgrammingError",
        "NotSupportedError",
    ):
        assert issubclass(getattr(dbapi, name), dbapi.DatabaseError)
        assert getattr(dbapi.Connection, name) is getattr(dbapi, name)
