"""A real PostgreSQL server: the contract, and what only this engine has."""

import contextlib
import secrets
import threading
import time
from concurrent.futures import Future

import psycopg
import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.cli.commands.init import write_draft
from deniable.engines.dialect.statement_writer import StatementWriter
from deniable.engines.dialect.typed_sql import WrittenRelation
from deniable.engines.postgresql.engine import PostgreSQL
from deniable.engines.postgresql.source_definitions import check_definition
from deniable.engines.postgresql.writer import POSTGRESQL
from deniable.errors import EngineFailed, InvalidPolicy, Unsupported
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan as plan_of
from tests.engines.contract import EngineContract
from tests.engines.listed import ListsContract
from tests.engines.plans import plan, shown
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
    pa.list_(pa.string()): "text[]",
    pa.list_(pa.float64()): "float8[]",
    pa.list_(pa.int64()): "int8[]",
    pa.list_(pa.bool_()): "boolean[]",
}


def address(folder, table):
    return f"postgresql://deniable@/postgres?host={folder}#{table}"


def store(folder, name, table):
    """Puts an Arrow table into a schema of its own; where it is."""
    schema = f"s{secrets.token_hex(6)}"
    with psycopg.connect(address(folder, "").rstrip("#"), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        columns = ", ".join(f'"{field.name}" {TYPES[field.type]}' for field in table.schema)
        connection.execute(f'CREATE TABLE {schema}."{name}" ({columns})')
        with connection.cursor().copy(f'COPY {schema}."{name}" FROM STDIN') as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
    return address(folder, f'{schema}."{name}"')


class Stored:
    """Tables in the server that the tests share."""

    @pytest.fixture(autouse=True)
    def _server(self, postgresql):
        self.folder = postgresql

    @contextlib.contextmanager
    def opened(self, tables):
        sources = {name: store(self.folder, name, table) for name, table in tables.items()}
        with PostgreSQL.open(sources) as engine:
            yield engine


class TestPostgreSQL(Stored, EngineContract, UsesContract, ListsContract):
    def collated(self):
        schema = own(
            self.folder,
            "CREATE COLLATION {s}.careless (PROVIDER = icu, LOCALE = 'und-u-ks-level2', "
            "DETERMINISTIC = false)",
            "CREATE TABLE {s}.people (name text COLLATE {s}.careless)",
            "INSERT INTO {s}.people VALUES ('Bob'), ('bob')",
        )
        return PostgreSQL, address(self.folder, f"{schema}.people")

    def valued(self, engine, sql):
        if engine.name != "PostgreSQL":
            return super().valued(engine, sql)
        written = StatementWriter(POSTGRESQL, engine._relations).write(sql)
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


@contextlib.contextmanager
def waiting_question(base, schema, folder):
    """A session, and a question to a table that the owner holds, so that it waits."""
    with psycopg.connect(base.rstrip("#"), autocommit=True) as owner:
        owner.execute(f"CREATE SCHEMA {schema}")
        for table in ("slow", "quick"):
            owner.execute(f"CREATE TABLE {schema}.{table} AS SELECT 1 AS x")
    (folder / "deniable.toml").write_text(POLICY.format(address=base, schema=schema))
    with dp.open(str(folder / "deniable.toml")) as hospital:
        holder = psycopg.connect(base.rstrip("#"))
        holder.execute(f"LOCK TABLE {schema}.slow")
        asking = Future()
        threading.Thread(
            target=_told, args=(asking, hospital, "SELECT COUNT(x) FROM slow"), daemon=True
        ).start()
        yield hospital, asking
        holder.close()


def test_killed_in_the_middle_the_charge_stands_and_the_next_question_is_served(
    postgresql, tmp_path
):
    base, schema = address(postgresql, ""), f"s{secrets.token_hex(6)}"
    with waiting_question(base, schema, tmp_path) as (hospital, asking):
        with psycopg.connect(base.rstrip("#"), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [_busy(other)])
        _is_the_one_error(asking.result(timeout=PATIENCE))
        assert hospital.remaining.epsilon == 2
        hospital.sql("SELECT COUNT(*) FROM quick", epsilon=1)
        assert hospital.remaining.epsilon == 1


def test_the_whole_server_is_killed_and_the_next_question_is_served(tmp_path):
    with mortal() as server:
        base = address(server.folder, "")
        with waiting_question(base, "hospital", tmp_path) as (hospital, asking):
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
        row = connection.execute(
            "SELECT pid FROM pg_stat_activity WHERE state = 'active' "
            "AND pid <> pg_backend_pid() AND query LIKE '%slow%'"
        ).fetchone()
        if row:
            return row[0]
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
    text = write_draft([source], tmp_path)
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
    again = write_draft(["$HOSPITAL"], tmp_path)
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


def own(postgresql, *statements):
    """Runs statements as the owner, in a schema of its own ({s}); its name."""
    schema = f"s{secrets.token_hex(6)}"
    with psycopg.connect(address(postgresql, "").rstrip("#"), autocommit=True) as owner:
        owner.execute(f"CREATE SCHEMA {schema}")
        for statement in statements:
            owner.execute(statement.format(s=schema))
    return schema


def grouped(name):
    return plan(f'SELECT "{name}" AS k0, COUNT(*) AS n FROM x GROUP BY "{name}"', keys=[name])


def test_types_are_known_by_their_number_and_enumerations_by_their_labels(postgresql):
    schema = own(
        postgresql,
        "CREATE DOMAIN {s}.int4 AS text",
        "CREATE TYPE {s}.text AS (a int)",
        "CREATE TYPE {s}.mood AS ENUM ('sad', 'glad')",
        "CREATE FUNCTION {s}.lie({s}.mood) RETURNS text IMMUTABLE LANGUAGE sql "
        "AS $$SELECT 'the same'::text$$",
        "CREATE CAST ({s}.mood AS text) WITH FUNCTION {s}.lie({s}.mood)",
        "CREATE TABLE {s}.x (a {s}.int4, b {s}.text, c {s}.mood, d int4)",
        "INSERT INTO {s}.x VALUES ('twelve', NULL, 'sad', 1), ('13', NULL, 'glad', 2)",
    )
    with PostgreSQL.open({"x": address(postgresql, f"{schema}.x")}) as engine:
        assert engine.schema("x") == {"c": "VARCHAR", "d": "INTEGER"}
        assert shown(engine.run(grouped("c"))) == [("glad", 1), ("sad", 1)]


ADDED = {
    "CAST (uuid AS text)": "CREATE CAST (uuid AS text) WITH FUNCTION {s}.f(uuid)",
    "FUNCTION pg_catalog.strpos(name, name)": "CREATE FUNCTION pg_catalog.strpos(name, name) "
    "RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "OPERATOR pg_catalog.+ (text, text)": "CREATE OPERATOR pg_catalog.+ (LEFTARG = text, "
    "RIGHTARG = text, FUNCTION = textcat)",
}


@pytest.mark.parametrize("what", ADDED)
def test_nothing_may_be_added_to_postgresqls_own(postgresql, what):
    function = "CREATE FUNCTION {s}.f(uuid) RETURNS text LANGUAGE sql AS $$SELECT 'a'::text$$"
    schema = own(postgresql, "CREATE TABLE {s}.x (a int)", function, ADDED[what])
    try:
        with pytest.raises(InvalidPolicy, match=f"adds a {what.split()[0].lower()} "):
            PostgreSQL.open({"x": address(postgresql, f"{schema}.x")})
    finally:
        own(postgresql, f"DROP {what}")
    PostgreSQL.open({"x": address(postgresql, f"{schema}.x")}).close()


TABLES = (
    "CREATE TABLE {s}.x (a int, b varchar(9), d text, e bytea, f date)",
    "CREATE TABLE {s}.y (a int, b varchar(9), d text, e bytea, f date)",
    "CREATE FUNCTION {s}.f(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1'",
)
HARMLESS = [
    "SELECT * FROM {s}.x WHERE b = 'x' AND d LIKE 'a%' AND a IN (1, 2) AND f >= '2020-01-01'",
    "SELECT a FROM {s}.x UNION ALL SELECT a FROM {s}.y",
    "SELECT CASE WHEN a > 1 THEN b ELSE d END AS z, COALESCE(d, 'x') AS w FROM {s}.x",
    "SELECT a FROM (SELECT a, b FROM {s}.x) AS q WHERE b = 'y'",
    'SELECT a IS DISTINCT FROM 3 AS a, d COLLATE "C" AS d FROM {s}.x WHERE d = CURRENT_USER',
]
RISKY = [
    "SELECT d::int AS a FROM {s}.x",
    "SELECT 1 / a AS a FROM {s}.x",
    "SELECT a + 1 AS a FROM {s}.x",
    "SELECT {s}.f(a) AS a FROM {s}.x",
    "SELECT e::text AS a FROM {s}.x",
    "SELECT a FROM {s}.x WHERE d LIKE 'a\\'",
    "SELECT a FROM {s}.x WHERE d ILIKE 'a%'",
    "SELECT (SELECT COUNT(*) FROM {s}.y) AS a FROM {s}.x",
    "SELECT a FROM {s}.x WHERE EXISTS (SELECT 1 FROM {s}.y)",
    "SELECT a FROM {s}.x WHERE a IN (SELECT a FROM {s}.y)",
    "SELECT a, COUNT(*) OVER () AS n FROM {s}.x",
    "SELECT a, COUNT(*) AS n FROM {s}.x GROUP BY a",
    "SELECT x.a FROM {s}.x JOIN {s}.y USING (a)",
    "SELECT x.a FROM {s}.x, {s}.y",
    "SELECT DISTINCT a FROM {s}.x",
    "SELECT a FROM {s}.x UNION SELECT a FROM {s}.y",
    "SELECT a FROM {s}.x UNION ALL SELECT a FROM {s}.x",
    "SELECT a FROM {s}.x ORDER BY a LIMIT 3",
    "SELECT a FROM {s}.x TABLESAMPLE BERNOULLI (10)",
    "WITH q AS (SELECT a FROM {s}.x) SELECT a FROM q",
    "SELECT i AS a FROM generate_series(1, 3) AS i",
]


def test_a_view_may_choose_rows_and_columns_and_no_more(postgresql):
    views = [*HARMLESS, *RISKY]
    statements = [f"CREATE VIEW {{s}}.v{i} AS {sql}" for i, sql in enumerate(views)]
    over = [f"CREATE VIEW {{s}}.w{i} AS SELECT * FROM {{s}}.v{i}" for i in range(len(views))]
    schema = own(postgresql, *TABLES, *statements, *over)
    accepted = {"v": [], "w": []}
    with psycopg.connect(address(postgresql, "").rstrip("#")) as connection:
        connection.execute("SET search_path = pg_catalog")
        oid = "SELECT '{}.{}{}'::regclass::oid"
        for letter, kept in accepted.items():
            for i, sql in enumerate(views):
                (view,) = connection.execute(oid.format(schema, letter, i)).fetchone()
                with contextlib.suppress(InvalidPolicy):
                    check_definition(connection, view)
                    kept.append(sql)
    assert accepted == {"v": HARMLESS, "w": HARMLESS}
    with pytest.raises(InvalidPolicy, match="is a view with CAST") as told:
        PostgreSQL.open({"x": address(postgresql, f"{schema}.v{len(HARMLESS)}")})
    assert told.value.where == ("tables", "x", "source")


def test_two_views_of_one_table_are_not_put_together(postgresql):
    single = "CREATE VIEW {s}.v AS SELECT a FROM {s}.x"
    both = "CREATE VIEW {s}.both AS SELECT a FROM {s}.v UNION ALL SELECT a FROM {s}.x"
    schema = own(postgresql, *TABLES, single, both)
    with pytest.raises(InvalidPolicy, match="more than once"):
        PostgreSQL.open({"x": address(postgresql, f"{schema}.both")})


def test_a_view_may_have_rules_for_writing(postgresql):
    rule = "CREATE RULE r AS ON INSERT TO {s}.v DO INSTEAD NOTHING"
    schema = own(postgresql, *TABLES, "CREATE VIEW {s}.v AS SELECT a FROM {s}.x", rule)
    with PostgreSQL.open({"x": address(postgresql, f"{schema}.v")}) as engine:
        assert engine.schema("x") == {"a": "INTEGER"}


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW {s}.x AS SELECT a FROM {s}.people WHERE a < 5 AND name LIKE 'a%'",
        "CREATE VIEW {s}.x AS SELECT a FROM {s}.y WHERE d COLLATE {s}.careless LIKE 'a%'",
        "CREATE POLICY p ON {s}.people USING (a < 5 AND name LIKE 'a%')",
    ],
)
def test_like_is_refused_where_a_collation_makes_it_fail(postgresql, statement):
    """It fails on the first row that reaches it, and says nothing where none does."""
    careless = (
        "CREATE COLLATION {s}.careless (PROVIDER = icu, LOCALE = 'und-u-ks-level2', "
        "DETERMINISTIC = false)"
    )
    table = "CREATE TABLE {s}.people (a int, name text COLLATE {s}.careless)"
    secured = "ALTER TABLE {s}.people ENABLE ROW LEVEL SECURITY"
    view = "x" if "VIEW" in statement else "people"
    schema = own(postgresql, TABLES[1], careless, table, statement, secured)
    with pytest.raises(InvalidPolicy, match="LIKE beside a nondeterministic collation"):
        PostgreSQL.open({"x": address(postgresql, f"{schema}.{view}")})


def test_a_cast_of_the_owners_in_a_view_is_refused(postgresql):
    schema = own(
        postgresql,
        "CREATE TYPE {s}.mood AS ENUM ('sad', 'glad')",
        "CREATE FUNCTION {s}.lie({s}.mood) RETURNS text LANGUAGE sql AS $$SELECT 'a'::text$$",
        "CREATE CAST ({s}.mood AS text) WITH FUNCTION {s}.lie({s}.mood)",
        "CREATE TABLE {s}.t (a {s}.mood)",
        "CREATE VIEW {s}.x AS SELECT a::text AS a FROM {s}.t",
    )
    with pytest.raises(InvalidPolicy, match="not PostgreSQL's own"):
        PostgreSQL.open({"x": address(postgresql, f"{schema}.x")})


def test_foreign_tables_are_refused_also_as_parts_of_others(postgresql):
    schema = own(
        postgresql,
        "CREATE FOREIGN DATA WRAPPER w{s}",
        "CREATE SERVER v{s} FOREIGN DATA WRAPPER w{s}",
        "CREATE FOREIGN TABLE {s}.far (a int) SERVER v{s}",
        "CREATE TABLE {s}.parts (a int) PARTITION BY LIST (a)",
        "CREATE FOREIGN TABLE {s}.part PARTITION OF {s}.parts DEFAULT SERVER v{s}",
        "CREATE VIEW {s}.seen AS SELECT a FROM {s}.far",
    )
    for table in ("far", "parts", "seen"):
        with pytest.raises(InvalidPolicy, match="is a foreign table"):
            PostgreSQL.open({"x": address(postgresql, f"{schema}.{table}")})


@pytest.mark.parametrize(
    ("condition", "risk"),
    [
        ("b = 'A' OR d = CURRENT_USER", None),
        ("1 / a > 0", "DIV"),
        ("a < (SELECT COUNT(*) FROM {s}.y)", "SUBQUERY"),
        ("{s}.f(a) = 1", "code that is not PostgreSQL's own"),
    ],
)
def test_a_row_level_policy_may_compare_and_no_more(postgresql, condition, risk):
    policy = f"CREATE POLICY p ON {{s}}.x USING ({condition})"
    enabled = "ALTER TABLE {s}.x ENABLE ROW LEVEL SECURITY"
    schema = own(postgresql, *TABLES, policy, enabled)
    source = {"x": address(postgresql, f"{schema}.x")}
    if risk is None:
        PostgreSQL.open(source).close()
    else:
        with pytest.raises(InvalidPolicy, match=f"A row-level policy of .* has {risk}"):
            PostgreSQL.open(source)


@pytest.mark.parametrize("encoding", ["WIN1252", "EUC_JP", "LATIN1"])
def test_an_encoding_must_have_a_letter_for_every_byte(postgresql, encoding):
    name, base = f"d{secrets.token_hex(6)}", address(postgresql, "").rstrip("#")
    with psycopg.connect(base, autocommit=True) as owner:
        owner.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    place = base.replace("/postgres", f"/{name}")
    with psycopg.connect(place, autocommit=True) as owner:
        owner.execute("CREATE TABLE x (a text)")
        if encoding != "LATIN1":
            with pytest.raises(InvalidPolicy, match=f"encodes its text as {encoding}"):
                PostgreSQL.open({"x": f"{place}#x"})
            return
        owner.execute(
            "INSERT INTO x SELECT convert_from(set_byte('x', 0, i), 'LATIN1') "
            "FROM generate_series(1, 255) AS i"
        )
    with PostgreSQL.open({"x": f"{place}#x"}) as engine:
        assert {key for key, _ in shown(engine.run(grouped("a")))} == set(
            map(chr, range(1, 256))
        )
        keys = ["x", "", *map(chr, range(0xE0, 0x180)), "\0", "\U0001f600"]
        table = Table.declare("x", keys={"a": keys}).with_schema({"a": "VARCHAR"})
        policy, sql = Policy([table], epsilon=9), "SELECT a, COUNT(*) AS n FROM x GROUP BY a"
        groups = shown(engine.run(plan_of(parse(sql), policy, epsilon=1)))
        assert {key for key, _ in groups} == {"x", *map(chr, range(0xE0, 0x100))}


def test_narrow_integers_are_looked_up_among_many_keys(postgresql):
    source = store(postgresql, "t", pa.table({"i": pa.array([1, 3, 3, 4, None], pa.int32())}))
    table = Table.declare("t", keys={"i": range(1, 500, 2)}).with_schema({"i": "INTEGER"})
    policy, sql = Policy([table], epsilon=9), "SELECT i, COUNT(*) AS n FROM t GROUP BY i"
    query_plan = plan_of(parse(sql), policy, epsilon=1)
    step = int(query_plan.keys[0].step)
    with PostgreSQL.open({"t": source}) as engine:
        assert shown(engine.run(query_plan)) == [(1 // step, 1), (3 // step, 2)]


def test_keys_that_are_too_long_are_refused_as_too_long(postgresql, monkeypatch):
    monkeypatch.setattr("deniable.engines.postgresql.writer._MOST_KEYS", 100)
    source = store(postgresql, "t", pa.table({"w": ["a"]}))
    table = Table.declare("t", keys={"w": map(str, range(200))}).with_schema({"w": "VARCHAR"})
    policy, sql = Policy([table], epsilon=9), "SELECT w, COUNT(*) AS n FROM t GROUP BY w"
    with PostgreSQL.open({"t": source}) as engine, pytest.raises(Unsupported, match="too long"):
        engine.prepare(plan_of(parse(sql), policy, epsilon=1))


def test_functions_of_a_very_long_text_do_not_fail(postgresql):
    long = "INSERT INTO {s}.x SELECT repeat('é', 70000000)"  # TRIM would need 1.1 GB
    schema = own(postgresql, "CREATE TABLE {s}.x (a text)", long)
    declared = Table.declare("x").with_schema({"a": "VARCHAR"})
    sql = "SELECT COUNT(*) FROM x WHERE TRIM(a) = 'a' OR UPPER(a) = 'B' OR a ILIKE '%x'"
    sql += " OR a IS NULL"
    query_plan = plan_of(parse(sql), Policy([declared], epsilon=9), epsilon=1)
    with PostgreSQL.open({"x": address(postgresql, f"{schema}.x")}) as engine:
        assert shown(engine.run(query_plan)) == [(1,)]
    own(postgresql, f"DROP TABLE {schema}.x")


def test_clips_within_clips_are_not_merged(postgresql):
    """Each level names its value three times: merged, twelve levels are half a million."""
    clip = "CASE WHEN y > 5 THEN 5 WHEN y < 0 THEN 0 ELSE y END"
    sql = 'SELECT "x" AS y FROM "numbers"'
    for _ in range(12):
        sql = f"SELECT {clip} AS y FROM ({sql}) AS a"
    numbers = WrittenRelation("(SELECT generate_series(1, 9) AS x)", {"x": "int"})
    writer = StatementWriter(POSTGRESQL, {"numbers": numbers})
    written = writer.write(f"SELECT SUM(y) AS s FROM ({sql}) AS b").sql
    with psycopg.connect(address(postgresql, "").rstrip("#")) as connection:
        told = connection.execute(f"EXPLAIN VERBOSE {written}").fetchall()
        assert connection.execute(written).fetchone() == (35,)
    assert sum(len(line) for (line,) in told) < 10_000
