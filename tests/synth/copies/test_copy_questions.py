"""Intervals of counts: from the measurements where a question is a marginal."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp

CHANCE = np.random.default_rng(9)
A = CHANCE.choice(["x", "y"], 1000, p=[0.7, 0.3])
FRAME = pa.table(
    {
        "a": A,
        "b": np.where(CHANCE.random(1000) < 0.9, A == "x", A != "x"),
        "n": CHANCE.integers(0, 100, 1000),
        "c": CHANCE.choice(["u", "v", "w"], 1000),
    }
)
DECLARED = {"keys": {"a": ["x", "y"], "c": ["u", "v", "w"]}, "bounds": {"n": (0, 100)}}


@pytest.fixture(scope="module")
def copy():
    with dp.protect(FRAME, name="t", epsilon=9, delta=1e-4, **DECLARED) as session:
        yield session.copy(epsilon=9, method="mst")


def true_counts(where, keys):
    counts = {}
    for row in FRAME.to_pylist():
        if where(row):
            key = tuple(row[name] for name in keys)
            counts[key] = counts.get(key, 0) + 1
    return counts


@pytest.mark.parametrize(
    ("sql", "where", "keys"),
    [
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY a", lambda r: True, ["a"]),
        ("SELECT COUNT(*) AS n, c FROM t GROUP BY c ORDER BY c", lambda r: True, ["c"]),
        ("SELECT c, COUNT(*) AS n FROM t GROUP BY c ORDER BY n DESC", lambda r: True, ["c"]),
        ("SELECT COUNT(*) AS n FROM t WHERE c IN ('u', 'v')", lambda r: r["c"] != "w", []),
        ("SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b", lambda r: True, ["a", "b"]),
        (
            "SELECT a, COUNT(*) AS n FROM t WHERE NOT c = 'w' GROUP BY a",
            lambda r: r["c"] != "w",
            ["a"],
        ),
        ("SELECT COUNT(*) AS n FROM t WHERE b IS NULL OR b", lambda r: r["b"], []),
    ],
)
def test_intervals_hold_for_the_counts_of_the_table(copy, sql, where, keys):
    answer = copy.sql(sql).to_pylist()
    exact = true_counts(where, keys)
    for row in answer:
        count = exact.get(tuple(row[name] for name in keys), 0)
        wide = row["n_high"] - row["n_low"]
        assert row["n_low"] - wide <= count <= row["n_high"] + wide
    plain = copy.sql(sql, margins=False)
    assert "n_low" not in plain.column_names


def test_a_measured_column_has_a_narrow_interval(copy):
    row = copy.sql("SELECT a, COUNT(*) AS n FROM t WHERE a = 'x' GROUP BY a").to_pylist()[0]
    single = next(table for table in copy.measured if table.columns == ("a",))
    assert row["n_high"] - row["n_low"] < 2 * 1.97 * np.sqrt(single.variance + 1) + 1.1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(n) AS n FROM t",
        "SELECT n, COUNT(*) AS m FROM t GROUP BY n",
        "SELECT COUNT(*) AS m FROM t WHERE n > 50",
        "SELECT COUNT(*) AS m FROM t WHERE RANDOM() < 0.5",
        "SELECT COUNT(*) AS m FROM t AS u",
        "SELECT COUNT(DISTINCT a) AS m FROM t",
        "SELECT a, COUNT(*) AS m FROM t GROUP BY a HAVING COUNT(*) > 3",
        "SELECT a, COUNT(*) AS m, COUNT(*) AS k FROM t GROUP BY a",
        "SELECT a, COUNT(*) AS m FROM t GROUP BY a, c",
        "SELECT COUNT(*) AS m FROM (SELECT * FROM t)",
        "SELECT COUNT(*) AS m FROM t TABLESAMPLE 50%",
        "SELECT a, COUNT(*) AS m FROM t GROUP BY a, ROLLUP (c)",
        "SELECT COUNT(*) AS m FROM t WHERE n = 25",
        "SELECT a, COUNT(*) AS m FROM t WHERE n IN (25, 26) GROUP BY a",
        "SELECT a, n, COUNT(*) AS m FROM t GROUP BY a, n",
    ],
)
def test_other_questions_have_no_interval(copy, sql):
    assert not any(name.endswith("_low") for name in copy.sql(sql).column_names)


def test_cells_of_several_values_have_no_interval():
    """A cut number, a day, and a text whose keys were found: a value is only a part of a cell.
    Nearly all rows have one value of the interval, and the copy does not know it."""
    frame = pa.table(
        {
            "age": [25] * 900 + [60] * 100,
            "day": pa.array([40] * 800 + [90] * 200, pa.date32()),
            "city": ["often"] * 998 + ["rare", "seldom"],
            "b": [True, False] * 500,
        }
    )
    terms = {"cuts": {"age": [50], "day": ["1970-01-01", "1970-06-01"]}, "keys_epsilon": 5}
    with dp.protect(
        frame, name="t", bounds={"age": (0, 100)}, epsilon=50, delta=1e-4
    ) as session:
        copy = session.copy(epsilon=9, **terms)
    for where in ("age = 25", "day = '1970-02-10'", "city = 'rare'", "NOT city = 'rare'"):
        for more in ("", " AND b"):
            table = copy.sql(f"SELECT COUNT(*) AS m FROM t WHERE {where}{more}")
            assert table.column_names == ["m"]
    for name in ("age", "day", "city"):
        table = copy.sql(f"SELECT {name}, b, COUNT(*) AS m FROM t GROUP BY {name}, b")
        assert table.column_names == [name, "b", "m"]
    assert "m_low" in copy.sql("SELECT COUNT(*) AS m FROM t WHERE b").column_names
