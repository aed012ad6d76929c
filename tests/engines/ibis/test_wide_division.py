"""Wide integers over numbers of rows: Python's integers, on both backends."""

import itertools

import ibis
import pyarrow as pa
import pytest

from deniable.engines.ibis.wide_division import divide_by_rows
from deniable.engines.ibis.wide_integers import WideInteger

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")

PARTS = [0, 1, 2, 65_535, 2**20, 2**32 - 1, 2**40 + 12_345, 2**53 + 1]
ROWS = [1, 2, 3, 7, 1000, 2**20 - 1, 2**31 + 5, 2**32 - 1]
WEIGHTS = [
    (1, 0),
    (3 * 65_536, 3),
    (-4 * 65_536, 4_000),
    (7, -(2**21) - 1),
    (-(2**33) - 5, 2**45 + 3),
]


def connected(backend, table):
    if backend == "polars":
        connection = ibis.polars.connect()
        connection.create_table("t", table)
    else:
        connection = ibis.duckdb.connect()
        connection.con.register("arrow", table)
        connection.con.execute("CREATE TABLE t AS SELECT * FROM arrow")
    return connection, connection.table("t")


def fresh():
    count = itertools.count()
    return lambda: f"p{next(count)}"


@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_quotients_go_towards_zero_exactly(backend):
    most = max(abs(one) for pair in WEIGHTS for one in pair)
    rows = [
        (a, b, by)
        for a, b, by in itertools.product(PARTS, PARTS, ROWS)
        if max(a, b) * most // by < 2**61  # plans have no larger ones: their noise would be
    ]
    assert len(rows) > 200
    columns = zip(("a", "b", "rows"), zip(*rows, strict=True), strict=True)
    connection, table = connected(backend, pa.table(dict(columns)))
    wides = [
        WideInteger(tuple((w, table[name]) for w, name in zip(one, "ab", strict=True) if w))
        for one in WEIGHTS
    ]
    made, names = divide_by_rows(table, [(one, table.rows) for one in wides], fresh())
    assert made.columns == ("a", "b", "rows", *names)
    found = connection.to_pyarrow(made).to_pylist()
    assert len(found) == len(rows)
    for row in found:
        for name, (first, second) in zip(names, WEIGHTS, strict=True):
            over = first * row["a"] + second * row["b"]
            wanted = abs(over) // row["rows"] * (1 if over > 0 else -1)
            assert (row[name], row) == (wanted, row)


@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_whoever_has_too_many_rows_counts_for_nothing(backend):
    many = pa.table({"a": [10, 10, 10], "rows": [2**32, 2**40, 5]})
    connection, table = connected(backend, many)
    made, (name,) = divide_by_rows(table, [(WideInteger(((1, table.a),)), table.rows)], fresh())
    assert sorted(connection.to_pyarrow(made)[name].to_pylist()) == [0, 0, 2]


@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_wide_integers_become_the_nearest_double(backend):
    parts = [0, 1, 2**40 + 1, 2**52 + 1, 2**62 - 1]
    rows = list(itertools.product(parts, parts))
    columns = zip("ab", zip(*rows, strict=True), strict=True)
    connection, table = connected(backend, pa.table(dict(columns)))
    made = table.mutate(x=WideInteger(((3, table.a), (-2, table.b))).to_double())
    for row in connection.to_pyarrow(made).to_pylist():
        exact = 3 * row["a"] - 2 * row["b"]
        if max(3 * row["a"], 2 * row["b"]) < 2**59:
            assert row["x"] == float(exact)
        else:
            assert row["x"] == pytest.approx(float(exact), abs=2.0**12)
