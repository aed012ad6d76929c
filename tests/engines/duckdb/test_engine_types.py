"""Every type that a DuckDB database may hold is answered, or refused before anything runs."""

import contextlib

import duckdb

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

# A value of every type of DuckDB that some question can use; no question can use the others.
USABLE = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "-1"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "1"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "'nan'"),
    **dict.fromkeys(("DECIMAL(38,0)", "DECIMAL(38,37)", "DECIMAL(4,1)"), "9"),
    **dict.fromkeys(("VARCHAR", "ENUM('a', 'b')"), "'a'"),
    **dict.fromkeys(("UUID",), "'00000000-0000-0000-0000-000000000000'"),
    **dict.fromkeys(("JSON",), "'{\"a\": 1}'"),
    **dict.fromkeys(("BOOLEAN",), "true"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPTZ_NS"), "'infinity'"),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "'-infinity'"),
}
OTHERS = ["TIME", "TIMETZ", "INTERVAL", "BLOB", "BIT", "BIGNUM", "VARIANT", "GEOMETRY"]
OTHERS += ["INTEGER[]", "INTEGER[2]", "ENUM('a')[]", "STRUCT(a ENUM('a'))", "MAP(INT, INT)"]
OTHERS += ["UNION(a INT, b BLOB)", "TIME_NS", "TUPLE(INT, INT)"]


def test_every_type_of_a_database_is_answered_or_refused_before_it_runs(tmp_path):
    types = [*USABLE, *OTHERS]
    with duckdb.connect(str(tmp_path / "types.duckdb")) as database:
        known = database.execute("SELECT DISTINCT logical_type FROM duckdb_types()").fetchall()
        columns = ", ".join(f"c{i} {type_}" for i, type_ in enumerate(types))
        database.execute(f"CREATE TABLE data (id INTEGER, {columns})")
        values = ", ".join([*USABLE.values(), *("NULL" for _ in OTHERS)])
        database.execute(f"INSERT INTO data VALUES (1, {values})")
        database.execute("INSERT INTO data (id) VALUES (2)")
    listed = {type_.partition("(")[0] for type_ in types if not type_.endswith("]")}
    listed |= {"LIST", "ARRAY", "TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"}
    assert {name for (name,) in known} <= listed | {"NULL", "TYPE"}
    uses = ["COUNT({})", "COUNT(DISTINCT {})", "SUM(CASE WHEN {} IS NULL THEN 1 END)"]
    uses += ["SUM(YEAR({}))", "SUM(CLAMP({}, 0, 9))", "SUM(CASE WHEN {} = {} THEN 1 END)"]
    counts = {}
    table = Table("data", f"{tmp_path / 'types.duckdb'}#data", unit="id")
    with DuckDB.open(Policy([table], epsilon=9)) as engine:
        schema = engine.schema("data")
        assert not any("'" in type_ for type_ in schema.values())
        policy = Policy([table.with_schema(schema)], epsilon=9)
        for i, type_ in enumerate(types):
            counts[type_] = 0
            for use in uses:
                sql = f"SELECT {use.replace('{}', f'c{i}')} AS n FROM data"
                with contextlib.suppress(InvalidQuery):
                    engine.run(plan(parse(sql), policy, epsilon=1))
                    counts[type_] += 1
    assert all(count >= 4 for type_, count in counts.items() if type_ in USABLE), counts
    assert not any(count for type_, count in counts.items() if type_ in OTHERS), counts
