"""UNNEST and JSON in the spellings of several systems: one meaning, that of DuckDB."""

import json
import re

import duckdb
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan

ROWS = pa.table(
    {
        "id": list(range(6)),
        "cost": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "codes": [["x", "y"], ["x", None, "z"], None, [], ["z"] * 4, ["y", "w"]],
        "more": [[1, 2], [3], None, [4], [], [5, None]],
        "note": [json.dumps({"a": {"b": i}, "c": [i, str(i)]}) for i in range(5)] + ["{"],
    }
)
# Each also runs in DuckDB as it is, except the last.
ASKED = [
    "SELECT COUNT(*), SUM(cost) FROM t, UNNEST(codes)",
    "SELECT COUNT(u), SUM(cost) FROM t, UNNEST(codes) AS u",
    "SELECT COUNT(u.unnest) FROM t CROSS JOIN UNNEST(t.codes) AS u WHERE u.unnest > 'x'",
    "SELECT code, COUNT(*) FROM t, UNNEST(codes) AS u(code) WHERE code > '' GROUP BY code",
    "SELECT COUNT(*), COUNT(code) FROM t LEFT JOIN UNNEST(codes) AS u(code) ON TRUE",
    "SELECT COUNT(*) FROM t JOIN UNNEST(codes) AS u(code) ON TRUE WHERE code = 'z'",
    "SELECT COUNT(code) FROM t, LATERAL UNNEST(codes) AS u(code)",
    "SELECT COUNT(code) FROM t CROSS JOIN LATERAL (SELECT UNNEST(codes) AS code) AS u",
    "SELECT COUNT(code) FROM (SELECT UNNEST(codes) AS code FROM t WHERE cost > 1)",
    "SELECT COUNT(c) FROM (SELECT UPPER(UNNEST(codes)) AS c, cost FROM t) WHERE c <> 'X'",
    "SELECT UNNEST(codes) AS c, COUNT(*) FROM t GROUP BY c HAVING c IS NOT NULL",
    "SELECT SUM(m), COUNT(code) FROM t, UNNEST(codes) AS u(code), UNNEST(more) AS w(m)",
    "SELECT COUNT(*) FROM (SELECT * FROM t) AS q, UNNEST(q.codes) AS u(code) WHERE code = 'x'",
    "WITH c AS (SELECT UNNEST(codes) AS code FROM t) SELECT COUNT(*) FROM c WHERE code = 'y'",
    "SELECT COUNT(*) FROM t LATERAL VIEW EXPLODE(codes) u AS code WHERE code = 'z'",
]
PATHS = ["note ->> '$.a.b'", "note ->> '$.c[1]'", "(note -> 'a') ->> 'b'", "note ->> '$.c'"]
PATHS += ["json_extract_string(note, '$.a.b')", "note ->> '$.\"a\"'"]
REFUSED = {
    "SELECT COUNT(*) FROM t, UNNEST(cost) AS u(x)": "declares no `length`",
    "SELECT COUNT(*) FROM t, UNNEST([1, 2]) AS u(x)": "column of lists",
    "SELECT COUNT(*) FROM t, UNNEST(codes) WITH ORDINALITY AS u(x, i)": "One list of a row",
    "SELECT COUNT(*) FROM t RIGHT JOIN UNNEST(codes) AS u(x) ON TRUE": "LEFT JOIN UNNEST",
    "SELECT COUNT(*) FROM t LEFT JOIN UNNEST(codes) AS u(x) ON x = 'a'": "into WHERE",
    "SELECT COUNT(c) FROM (SELECT UNNEST(codes) AS c, UNNEST(more) AS m FROM t)": "one UNNEST",
    "SELECT COUNT(codes) FROM t": "holds lists",
    "SELECT codes, COUNT(*) FROM t GROUP BY codes": "holds lists",
    "SELECT COUNT(*) FROM t WHERE note -> '$.a' = '1'": "Write ->>",
    "SELECT COUNT(note -> 'a') FROM t": "inside a function",
    "SELECT COUNT(note ->> 'a.b') FROM t": "one key of JSON or a path",
    "SELECT COUNT(note ->> '$.a[*]') FROM t": "constant path",
    "SELECT COUNT(note ->> '$.a[-1]') FROM t": "constant path",
    "SELECT COUNT(note ->> note) FROM t": "constant path",
    "SELECT COUNT(*) FROM t, UNNEST(other) AS u(x)": "declares their `length`",
    # What it says can be written so: of elements, their list is declared.
    "SELECT SUM(x) FROM t, UNNEST(plain) AS u(x)": "plain = { length = 5, bounds = [0, 1000]",
    "SELECT SUM(y) FROM (SELECT x AS y FROM t, UNNEST(plain) AS u(x))": "plain = { length = 5",
    "SELECT SUM(x) FROM t, UNNEST(codes) AS u(x)": "codes = { length = 5, bounds",
    "SELECT MODE(x) FROM t, UNNEST(plain) AS u(x)": "plain = { length = 5, keys",
    "SELECT HISTOGRAM(x) FROM t, UNNEST(words) AS u(x)": "words = { length = 5, keys",
    # Other ways to ask about lists.
    "SELECT COUNT(*) FROM t WHERE 'a' = ANY(codes)": "Lists are read by UNNEST",
    "SELECT COUNT(*) FROM t WHERE 'a' IN codes": "Lists are read by UNNEST",
    "SELECT COUNT(*) FROM t WHERE codes[1] = 'a'": "Lists are read by UNNEST",
    "SELECT COUNT(*) FROM t WHERE list_contains(codes, 'a')": "Lists are read by UNNEST",
    "SELECT AVG(ARRAY_LENGTH(codes, 1)) FROM t": "Lists are read by UNNEST",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.codes) AS u(x))": "by UNNEST",
}
DECLARED = {
    "bounds": {"cost": (0, 9), "more": (0, 9)},
    "keys": {"codes": ["w", "x", "y", "z"]},
    "kind": {"note": "text"},
    "length": {"codes": 4, "more": 2},
}


@pytest.fixture(scope="module")
def opened():
    with (
        duckdb.connect() as plain,
        dp.protect(
            ROWS, name="t", unit="id", max_groups_per_unit=4, max_rows_per_unit_per_group=4,
            epsilon=10**9, **DECLARED,
        ) as session,
    ):  # fmt: skip
        plain.register("t", ROWS)
        yield session, plain


@pytest.mark.parametrize("sql", ASKED)
def test_lists_mean_what_they_mean_in_duckdb(opened, sql):
    session, plain = opened
    written = sql.replace(
        "FROM t LATERAL VIEW EXPLODE(codes) u AS code", "FROM t, UNNEST(codes) AS u(code)"
    )
    expected = plain.execute(written).fetchall()
    assert _rounded(read_rows(session, sql)) >= _rounded(expected)


def read_rows(session, sql):
    """The rows of an answer, without margins."""
    shown = session.sql(sql, epsilon=10**5).to_arrow()
    ends = ("_margin", "_low", "_high")
    return shown.select([c for c in shown.column_names if not c.endswith(ends)]).to_pylist()


def _rounded(rows):
    """All rows; those of declared keys without rows are zero."""
    rows = (tuple(row.values()) if isinstance(row, dict) else row for row in rows)
    return {
        tuple(value if isinstance(value, str) else round(value) for value in row)
        for row in rows
    }


@pytest.mark.parametrize("path", PATHS)
def test_json_means_what_it_means_in_duckdb(opened, path):
    session, plain = opened
    sql = f"SELECT COUNT({path}), COUNT(DISTINCT {path}) FROM t WHERE {path} <> '2'"
    guarded = sql.replace("note", "TRY_CAST(note AS JSON)")
    assert _rounded(read_rows(session, sql)) == _rounded(plain.execute(guarded).fetchall())


@pytest.mark.parametrize("sql", REFUSED)
def test_what_has_no_meaning_here_is_refused(sql):
    schema = {"id": "BIGINT", "cost": "DOUBLE", "codes": "VARCHAR[]", "more": "BIGINT[]"}
    schema |= {"note": "VARCHAR", "plain": "BIGINT[]", "words": "VARCHAR[]"}
    declared = DECLARED | {"length": DECLARED["length"] | {"plain": 2, "words": 2}}
    table = Table.declare("t", unit="id", **declared).with_schema(schema)
    with pytest.raises(InvalidQuery, match=re.escape(REFUSED[sql])):
        plan(parse(sql), Policy([table], epsilon=9, delta=0.1), epsilon=1)


@pytest.mark.parametrize("path", ["$..a", "$[?(@.a)]", "$.a[:1]", "$[18446744073709551616]"])
def test_a_path_that_cannot_be_written_is_refused_before_the_charge(opened, path):
    session, _ = opened
    before = session.remaining.epsilon
    inside = f"SELECT COUNT(z) FROM (SELECT id, note ->> '{path}' AS z FROM t) AS q"
    for text in (f"SELECT COUNT(note ->> '{path}') AS n FROM t", inside):
        with pytest.raises(InvalidQuery, match="constant path"):
            session.sql(text, epsilon=1)
    assert session.remaining.epsilon == before


def test_groups_of_elements_are_declared_at_their_list():
    schema = {"id": "BIGINT", "words": "VARCHAR[]", "ward": "VARCHAR"}
    table = Table.declare("t", unit="id", length={"words": 2}).with_schema(schema)
    cases = {
        "SELECT w, COUNT(*) FROM t, UNNEST(words) AS u(w) GROUP BY w": "words = { length = 5, ",
        "SELECT z, COUNT(*) FROM (SELECT ward AS z FROM t) GROUP BY z": "ward = { keys",
        "SELECT UPPER(ward) AS k, COUNT(*) FROM t GROUP BY k": "a column with declared keys",
    }
    for sql, says in cases.items():
        with pytest.raises(InvalidQuery, match=re.escape(says)):
            plan(parse(sql), Policy([table], epsilon=9), epsilon=1, delta=0)
