"""A real PostgreSQL server: the contract, and what only this engine has."""

import contextlib
import secrets
import threading
import time
from concurrent.futures import Future
from typing import ClassVar

import psycopg
import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.cli.commands.init import write_draft
from deniable.engines.postgresql.engine import PostgreSQL
from deniable.engines.postgresql.writer import PostgreSQLWriter
from deniable.errors import EngineFailed, InvalidPolicy
from tests.engines.contract import EngineContract
from tests.engines.uses import UsesContract
from tools.postgresql import mortal

pytestmark = [pytest.mark.needs("postgresql"), pytest.mark.xdist_group("postgresql")]

PATIENCE = 300  # seconds
TYPES = {
    pa.int32(): "int4",
    pa.int64(): "int8",
    pa.float64(): "float8",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
}


def address(folder, table):
    return f"postgresql://deniable@/postgres?host={folder}#{table}"


def store(folder, name, table):
    """Puts an Arrow table into a schema of its own; where it is."""
    schema = f"s{secrets.token_hex(6)}"
    with psycopg.connect(address(folder, "").rstrip("#"), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        columns = ", ".join(f'"{one.name}" {TYPES[one.type]}' for one in table.schema)
        connection.execute(f'CREATE TABLE {schema}."{name}" ({columns})')
        with connection.cursor().copy(f'COPY {schema}."{name}" FROM STDIN') as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return address(folder, f'{schema}."{name}"')


class TestPostgreSQL(EngineContract, UsesContract):
    refused_uses: ClassVar[set[str]] = {"CAST(x AS TEXT)", "REVERSE(t)"}

    @pytest.fixture(autouse=True)
    def _server(self, postgresql):
        self.folder = postgresql

    @contextlib.contextmanager
    def opened(self, tables):
        sources = {name: store(self.folder, name, table) for name, table in tables.items()}
        with PostgreSQL.open(sources) as engine:
            yield engine

    def valued(self, engine, sql):
        if engine.name != "PostgreSQL":
            return super().valued(engine, sql)
        written = PostgreSQLWriter(engine._relations).write_relation(sql)
        cursor = engine._connect().execute(written.sql.replace("%", "%%"), [], binary=True)
        columns = zip(*cursor.fetchall(), strict=True)
        return pa.table(dict(zip(written.columns, map(pa.array, columns), strict=True)))


POLICY = """
[budget]
epsilon = 3
[ledger]
store = "memory"
[tables.slow]
source = "{address}{schema}.slow"
[tables.quick]
source = "{address}{schema}.quick"
"""


def slow_and_quick(base, schema):
    """A table that takes ten minutes to read, and one that takes no time."""
    with psycopg.connect(base.rstrip("#"), autocommit=True) as owner:
        owner.execute(f"CREATE SCHEMA {schema}")
        owner.execute(f"CREATE TABLE {schema}.quick AS SELECT 1 AS x")
        owner.execute(
            f"CREATE VIEW {schema}.slow AS SELECT CASE WHEN pg_sleep(0.05) IS NOT NULL "
            "THEN i END AS x FROM generate_series(1, 12000) AS i"
        )


@contextlib.contextmanager
def asked(base, schema, folder):
    """A session, and the slow question that it is being asked."""
    slow_and_quick(base, schema)
    (folder / "deniable.toml").write_text(POLICY.format(address=base, schema=schema))
    with dp.open(str(folder / "deniable.toml")) as hospital:
        asking = Future()
        threading.Thread(
            target=_told, args=(asking, hospital, "SELECT COUNT(x) FROM slow"), daemon=True
        ).start()
        yield hospital, asking


def test_killed_in_the_middle_the_charge_stands_and_the_next_question_is_served(
    postgresql, tmp_path
):
    base, schema = address(postgresql, ""), f"s{secrets.token_hex(6)}"
    with asked(base, schema, tmp_path) as (hospital, asking):
        with psycopg.connect(base.rstrip("#"), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [_busy(other)])
        _is_the_one_error(asking.result(timeout=PATIENCE))
        assert hospital.remaining.epsilon == 2
        hospital.sql("SELECT COUNT(*) FROM quick", epsilon=1)
        assert hospital.remaining.epsilon == 1


def test_the_whole_server_is_killed_and_the_next_question_is_served(tmp_path):
    with mortal() as server:
        base = address(server.folder, "")
        with asked(base, "hospital", tmp_path) as (hospital, asking):
            with psycopg.connect(base.rstrip("#"), autocommit=True) as other:
                _busy(other)
            server.kill()
            _is_the_one_error(asking.result(timeout=PATIENCE))
            assert hospital.remaining.epsilon == 2
            with pytest.raises(EngineFailed) as failed:  # nobody is there
                hospital.sql("SELECT COUNT(*) FROM quick", epsilon=1)
            _is_the_one_error(failed.value)
            assert hospital.remaining.epsilon == 1
            server.start()
            again = hospital.sql("SELECT COUNT(*) AS n FROM quick", epsilon=1)
            assert again.to_arrow().num_rows == 1
            assert hospital.remaining.epsilon == 0


def _is_the_one_error(failure):
    assert isinstance(failure, EngineFailed)
    assert str(failure) == str(EngineFailed(failure.reference))
    assert failure.__cause__ is None
    assert failure.__context__ is None


def _told(asking, session, sql):
    try:
        asking.set_result(session.sql(sql, epsilon=1))
    except Exception as problem:
        asking.set_result(problem)


def _busy(connection):
    """The server's process that runs the slow question, once there is one."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE state = 'active' "
            "AND pid <> pg_backend_pid() AND query LIKE '%slow%'"
        ).fetchone()
        if found:
            return found[0]
        time.sleep(0.02)
    raise AssertionError("The question never began.")


def test_nothing_can_be_written_and_time_is_limited(postgresql):
    source = store(postgresql, "visits", pa.table({"x": pa.array([1], pa.int64())}))
    with PostgreSQL.open({"visits": source.replace("#", "&timeout=7#")}) as engine:
        connection = engine._connect()
        (seconds,) = connection.execute("SHOW statement_timeout").fetchone()
        assert seconds == "7s"
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), connection.transaction():
            connection.execute("CREATE TABLE public.t (a int)")
    with pytest.raises(InvalidPolicy, match="timeout"):
        PostgreSQL.open({"visits": source.replace("#", "&timeout=never#")})


def test_a_draft_holds_every_table_that_may_be_read(postgresql, tmp_path, monkeypatch):
    schema, role = f"s{secrets.token_hex(6)}", f"r{secrets.token_hex(6)}"
    with psycopg.connect(address(postgresql, "").rstrip("#"), autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {role} LOGIN")
        owner.execute(f"CREATE SCHEMA {schema}")
        owner.execute(f'CREATE TABLE {schema}."The Visits" AS SELECT 4711.25 AS cost')
        owner.execute(f"CREATE VIEW {schema}.wards AS SELECT 'CANARY'::text AS ward")
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        owner.execute(f"CREATE TABLE {schema}.hidden AS SELECT 1 AS x")
    source = f"postgresql://{role}@/postgres?host={postgresql}"
    assert PostgreSQL.list_tables(source) == [f'{schema}."The Visits"', f"{schema}.wards"]
    text = write_draft(source, tmp_path)
    assert 'source = "' + source + f'#{schema}.wards"' in text
    assert '[tables."The Visits"]' in text
    assert "CANARY" not in text
    assert "4711" not in text
    filled = text.replace('unit = "FILL IN"', "").replace('"FILL IN"', "1")
    (tmp_path / "deniable.toml").write_text(filled)
    with dp.open(str(tmp_path / "deniable.toml")) as session:
        session.sql('SELECT COUNT(*) FROM "The Visits"', epsilon=0.5)
    # The same with the whole address, and a secret, in the environment.
    monkeypatch.setenv("HOSPITAL", source.replace("@", ":open-sesame@", 1))
    again = write_draft("$HOSPITAL", tmp_path)
    assert again == text.replace(source, "$HOSPITAL")


@pytest.mark.parametrize("table", ["nothing", "pg_temp.nothing", "public.visits; DROP TABLE x"])
def test_a_table_that_is_not_there_is_said(postgresql, table):
    with pytest.raises(InvalidPolicy, match="no table"):
        PostgreSQL.open({"visits": address(postgresql, table)})


def test_a_server_that_is_not_there_is_said_without_the_address(tmp_path, monkeypatch):
    monkeypatch.setenv("HOSPITAL", f"postgresql://me:open-sesame@/db?host={tmp_path}#visits")
    with pytest.raises(InvalidPolicy, match="Cannot connect") as refused:
        PostgreSQL.open({"visits": "$HOSPITAL"})
    assert "open-sesame" not in str(refused.value)
    assert refused.value.__cause__ is None
