"""The tables of a ledger in PostgreSQL: as they were made, and nothing attached."""

from contextlib import suppress

import psycopg
import pytest
import sqlalchemy as sa

from deniable.errors import InvalidParameter, LedgerBroken, LedgerUnavailable
from deniable.ledger import DurableLedger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import plan
from tools.postgresql import empty_place

pytestmark = pytest.mark.needs("postgresql")
TERMS = Terms.from_budget(Budget(1))


@pytest.fixture
def place(postgresql):
    return empty_place(postgresql)


@pytest.fixture
def ledger(place, tmp_path):
    opened = DurableLedger(place, TERMS, key=tmp_path / "l.key")
    opened.reserve(plan(0.25))
    yield opened
    opened.close()


def change(place, *statements):
    address, _, schema = place.partition("#")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}")
        for statement in statements:
            connection.execute(statement)


FORGET = (
    "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "CREATE TRIGGER forget BEFORE {} ON {} FOR EACH ROW EXECUTE FUNCTION forget()",
)


@pytest.mark.parametrize(
    "statements",
    [
        (FORGET[0], FORGET[1].format("INSERT", "deniable_entries")),
        (FORGET[0], FORGET[1].format("UPDATE", "deniable_anchor")),
        ("CREATE RULE r AS ON INSERT TO deniable_entries DO INSTEAD NOTHING",),
        ("ALTER TABLE deniable_entries ENABLE ROW LEVEL SECURITY",),
        ("CREATE TABLE child () INHERITS (deniable_entries)",),
        ("ALTER TABLE deniable_entries ADD COLUMN more text DEFAULT 'x'",),
        ("ALTER TABLE deniable_anchor ADD COLUMN g int8 GENERATED ALWAYS AS (number) STORED",),
        ("ALTER TABLE deniable_entries SET UNLOGGED",),
        ("ALTER TABLE deniable_entries ADD CHECK (number < 9)",),
        ("ALTER TABLE deniable_entries DROP CONSTRAINT deniable_entries_ends_key",),
        (
            "CREATE DOMAIN mytext AS text",
            "ALTER TABLE deniable_entries ALTER COLUMN body TYPE mytext",
        ),
    ],
)
def test_what_is_attached_is_refused_by_open_and_new_sessions(
    ledger, place, tmp_path, statements
):
    change(place, *statements)
    with pytest.raises(LedgerBroken, match="not as it was made"):
        ledger.reserve(plan(0.25))
    with pytest.raises(LedgerBroken, match="not as it was made"):
        DurableLedger(place, TERMS, key=tmp_path / "l.key")


def test_other_tables_and_functions_of_the_schema_do_not_matter(ledger, place):
    change(
        place,
        "CREATE TABLE mine (x int)",
        "CREATE FUNCTION concat(text) RETURNS text LANGUAGE sql AS 'SELECT NULL'",
        "CREATE TABLE pg_class (relname text)",
    )
    ledger.reserve(plan(0.25))
    assert str(ledger.remaining) == "epsilon 0.5, delta 0"


def test_the_schema_is_the_policys_whatever_the_search_path(place, tmp_path):
    address, _, schema = place.partition("#")
    change(place, "CREATE SCHEMA IF NOT EXISTS other_ledgers")
    with psycopg.connect(address, autocommit=True) as connection:
        user = connection.execute("SELECT current_user").fetchone()[0]
        connection.execute(f'ALTER ROLE "{user}" SET search_path = other_ledgers')
    try:
        opened = DurableLedger(place, TERMS, key=tmp_path / "l.key")
        opened.reserve(plan(0.25))
        opened.close()
        with psycopg.connect(address) as connection:
            schemas = connection.execute(
                "SELECT schemaname FROM pg_tables WHERE tablename = 'deniable_anchor' "
                "AND schemaname IN (%s, 'other_ledgers')",
                [schema],
            ).fetchall()
            assert schemas == [(schema,)]
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f'ALTER ROLE "{user}" RESET search_path')


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://h/d#A b",
        "postgresql://h/d#x;drop",
        "postgresql://h/d?options=-csearch_path%3Dx",
    ],
)
def test_addresses_that_are_refused(tmp_path, address):
    with pytest.raises(InvalidParameter, match="schema"):
        DurableLedger(address, TERMS, key=tmp_path / "l.key")


@pytest.mark.parametrize("place", ["u:open-sesame@", "u@"])
def test_what_the_server_says_repeats_no_secret(tmp_path, place):
    address = f"postgresql://{place}127.0.0.1:1/db?sslmode=open-sesame"
    with pytest.raises(LedgerUnavailable, match=r"postgresql://127.0.0.1:1/db") as failed:
        DurableLedger(address, TERMS, key=tmp_path / "l.key")
    assert "sesame" not in str(failed.value)


def test_a_ledger_is_named_by_its_database_and_schema(ledger, place):
    assert ledger._journal._store.name.endswith(f"/postgres#{place.partition('#')[2]}")


def test_a_second_statement_on_a_lost_connection_is_told_in_our_words(ledger, place):
    """Its first failure may have been caught by the caller."""

    def read_twice():
        with ledger._journal.view() as view:
            own = view._connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            with psycopg.connect(place.partition("#")[0], autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 60000)", [own])
            with suppress(sa.exc.DBAPIError):
                view.row(0)
            view.row(0)

    with pytest.raises(LedgerUnavailable, match="its connection was lost"):
        read_twice()


def test_a_connection_that_ends_before_any_statement_is_told_in_our_words(ledger, place):
    """PostgreSQL ends it before the first statement of a charge, the second, and so on."""
    statements, refused, last = [], 0, 0

    def end(connection, *_):
        statements.append(connection)
        if len(statements) == last:
            own = connection.connection.dbapi_connection.info.backend_pid
            with psycopg.connect(place.partition("#")[0], autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 60000)", [own])

    sa.event.listen(ledger._journal._engine, "before_cursor_execute", end)
    while len(statements) == last:  # until it needs fewer statements than that
        statements.clear()
        last += 1
        try:
            ledger.settle(ledger.reserve(plan("1/1000000")), "{}")
        except LedgerUnavailable:  # and nothing else
            refused += 1
    sa.event.remove(ledger._journal._engine, "before_cursor_execute", end)
    assert refused == last - 1 > 10
    ledger.reserve(plan(0.25))  # on another connection


def test_a_session_that_the_server_ends_is_told_in_our_words(ledger, place):
    """The statement finds no connection, and neither does the rollback after it."""

    def read_while_it_ends():
        with ledger._journal.view() as view:
            own = view._connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            with psycopg.connect(place.partition("#")[0], autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 60000)", [own])
            view.row(0)

    with pytest.raises(LedgerUnavailable, match="cannot be used now") as told:
        read_while_it_ends()
    assert "its connection was lost" not in str(told.value)  # but what the server said of it
    ledger.reserve(plan(0.25))  # on another connection
    assert len(ledger.entries) == 2
