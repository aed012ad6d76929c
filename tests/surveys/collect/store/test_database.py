import sqlite3

import pytest

import deniable as dp
from deniable.ledger.durable_ledger import DurableLedger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from deniable.surveys.collect.store.database import CollectionDatabase
from tests.surveys.collect.store import crashing
from tools.postgresql import server


def test_the_database_of_a_ledger_is_refused(tmp_path):
    file = tmp_path / "ledger.sqlite"
    DurableLedger(file, Terms.from_budget(Budget(1)), key=tmp_path / "k").close()
    with pytest.raises(dp.InvalidParameter, match="holds a ledger"):
        crashing.open_store(str(file), tmp_path)


@pytest.mark.needs("postgresql")
def test_a_postgresql_database_with_a_ledger_is_refused_in_any_schema(tmp_path):
    with server(fsync="off") as folder:
        from tools.postgresql import empty_place

        ledger, survey = empty_place(folder), empty_place(folder)
        DurableLedger(ledger, Terms.from_budget(Budget(1)), key=tmp_path / "k").close()
        with pytest.raises(dp.InvalidParameter, match="holds a ledger"):
            crashing.open_store(survey, tmp_path)


def test_a_file_of_another_program_is_refused(tmp_path):
    file = tmp_path / "other.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE patients (name)")
    connection.close()
    with pytest.raises(dp.InvalidParameter, match="another program"):
        crashing.open_store(str(file), tmp_path)


def test_the_file_is_private_and_says_what_it_is(tmp_path):
    crashing.open_store(str(tmp_path / "s.sqlite"), tmp_path).close()
    assert (tmp_path / "s.sqlite").stat().st_mode & 0o777 == 0o600
    connection = sqlite3.connect(tmp_path / "s.sqlite")
    assert connection.execute("PRAGMA application_id").fetchone() == (0x64656E73,)
    connection.close()


def test_no_table_has_row_numbers_or_times(tmp_path):
    crashing.open_store(str(tmp_path / "s.sqlite"), tmp_path).close()
    connection = sqlite3.connect(tmp_path / "s.sqlite")
    tables = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
    for name, sql in tables.fetchall():
        assert "WITHOUT ROWID" in sql
        assert "TIME" not in sql.upper()
        with pytest.raises(sqlite3.OperationalError, match="no such column: rowid"):
            connection.execute(f"SELECT rowid FROM {name}")
    connection.close()


@pytest.mark.parametrize("setting", ["journal_mode", "synchronous", "secure_delete"])
def test_settings_hold_on_every_connection(tmp_path, monkeypatch, setting):
    from deniable.surveys.collect.store import database

    settings = tuple(each for each in database.SQLITE_SETTINGS if "OFF" not in each)
    monkeypatch.setattr(database, "SQLITE_SETTINGS", settings)
    store = CollectionDatabase(tmp_path / "s.sqlite")
    store.create()
    expected = {"journal_mode": "delete", "synchronous": 3, "secure_delete": 1}
    with store.reading() as first, store.reading() as second:
        for connection in (first, second):
            actual = connection.exec_driver_sql(f"PRAGMA {setting}").scalar()
            assert actual == expected[setting]
    store.close()


@pytest.mark.parametrize("where", ["mysql://user:open-sesame@host/db", "sqlite:///x.db"])
def test_another_address_is_refused_without_being_shown(where):
    with pytest.raises(dp.InvalidParameter, match="neither") as problem:
        CollectionDatabase(where)
    assert "sesame" not in str(problem.value)


def test_a_schema_with_a_strange_name_is_refused():
    with pytest.raises(dp.InvalidParameter, match="small letters"):
        CollectionDatabase('postgresql://u@h/d#A"b')


def test_an_error_of_the_database_names_no_password():
    database = CollectionDatabase("postgresql://u:open-sesame@127.0.0.1:1/d?connect_timeout=2")
    with pytest.raises(dp.CollectionUnavailable) as problem, database.writing():
        pass
    assert "sesame" not in str(problem.value)


def test_a_file_that_was_moved_away_takes_nothing(tmp_path):
    """Else a report would be acknowledged, and lost with the old file."""
    store = crashing.open_store(str(tmp_path / "s.sqlite"), tmp_path)
    store.accept(b"r", spend=b"1")
    (tmp_path / "s.sqlite").rename(tmp_path / "elsewhere")
    with pytest.raises(dp.CollectionUnavailable):
        store.accept(b"r", spend=b"2")
    store.close()
