"""What is special about people in PostgreSQL; the rest of this folder runs on both stores."""

import threading

import psycopg
import pytest

import deniable as dp
from deniable.app.server.accounts.account_stores import open_store
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.postgresql_accounts import PostgresqlAccounts
from tools.postgresql import address

pytestmark = pytest.mark.needs("postgresql")


@pytest.fixture
def place(new_place):
    return new_place()


def test_writes_do_not_overlap(place):
    stores = [open_store(place) for _ in range(2)]
    stores[0].create("CREATE TABLE IF NOT EXISTS n (n INTEGER) STRICT")
    with stores[0].writing() as connection:
        connection.execute("INSERT INTO n VALUES (?)", (0,))

    def add(store):
        for _ in range(25):
            with store.writing() as connection:
                (n,) = connection.execute("SELECT n FROM n").fetchone()
                connection.execute("UPDATE n SET n = ?", (n + 1,))

    threads = [threading.Thread(target=add, args=(store,)) for store in stores * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with stores[1].reading() as connection:
        assert connection.execute("SELECT n FROM n").fetchone() == (100,)
    for store in stores:
        store.close()


def test_the_database_of_a_ledger_is_refused(server_postgresql):
    with psycopg.connect(address(server_postgresql), autocommit=True) as connection:
        connection.execute("CREATE DATABASE people_beside_a_ledger")
    there = address(server_postgresql).replace("/postgres?", "/people_beside_a_ledger?")
    assert there != address(server_postgresql)
    with psycopg.connect(there, autocommit=True) as connection:
        connection.execute("CREATE TABLE deniable_entries (n INTEGER)")
    with pytest.raises(dp.InvalidParameter, match="holds a ledger"):
        PostgresqlAccounts(f"{there}#people")


def test_a_failed_write_leaves_nothing_and_quotes_nothing(place):
    store = open_store(place)
    people = Identities(store).people
    people.add("ann", role="analyst")

    def fail():
        with store.writing() as connection:
            connection.execute("DELETE FROM people")
            connection.execute("INSERT INTO subjects VALUES (?, ?, ?)", ("a", "b", "secret"))

    with pytest.raises(dp.ServerUnavailable) as problem:
        fail()
    assert "ForeignKeyViolation" in str(problem.value)
    assert "secret" not in str(problem.value)
    assert people.find("ann") == "ann"
    store.close()


def test_a_connection_that_was_lost_is_made_again(place):
    store = open_store(place)
    people = Identities(store).people
    people.add("ann", role="analyst")
    store._connections.mine().close()
    assert people.find("ann") == "ann"
    store.close()


def test_what_cannot_be_opened_is_said(tmp_path):
    with pytest.raises(dp.ServerUnavailable, match="cannot be used now") as problem:
        PostgresqlAccounts(f"postgresql://ann:secret@/d?host={tmp_path}")
    assert "secret" not in str(problem.value)
    with pytest.raises(dp.InvalidParameter, match="small letters"):
        PostgresqlAccounts("postgresql://h/d#Ö")
