"""Two hundred questions, with and without a row that means harm: all that an analyst sees is
the same except for noise (status, shape, price, message)."""

from fractions import Fraction

import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import EngineFailed
from deniable.ledger import MemoryLedger
from deniable.policy import Policy, Table
from deniable.release.public_session import Session
from tests.query.relations.test_function_table import USES

PLAIN = {
    "unit": 1,
    "x": 1.0,
    "n": 3,
    "t": "2",
    "s": "a",
    "b": True,
    "d": 0,
    "e": 86_400_000_000,
}
FAR = 2**63 - 2  # microseconds: the last moment that there is
HARM = [
    {"x": float("nan"), "y": 0.0, "n": 2**63 - 1, "t": "error", "s": "%", "d": FAR, "e": -FAR},
    {"x": float("inf"), "n": -(2**63), "t": "1e999", "s": "", "d": -FAR, "e": FAR},
    {"x": -1e308, "y": float("-inf"), "n": 0, "t": "", "s": "\x00", "d": FAR, "e": FAR},
    {"x": 0.0, "n": None, "t": None, "s": None, "d": None, "e": None, "b": None},
    {"x": -0.0, "n": 1, "t": "0", "s": "_" * 50_000, "d": -FAR, "e": None},
    {"x": 5e-324, "n": -1, "t": "2026-02-30", "s": "(a+)+$", "d": 0, "e": 0},
    {"x": 1e308, "n": 7, "t": "a" * 50_000, "s": "\\", "d": 1, "e": -1},
    {"unit": None, "x": 1.0, "n": 1, "t": "Infinity", "s": "nan", "d": 1, "e": 1},
]
SCHEMA = pa.schema(
    [
        ("unit", pa.int64()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("n", pa.int64()),
        ("t", pa.string()),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("d", pa.timestamp("us")),
        ("e", pa.timestamp("us")),
    ]
)
LOOKUP = pa.table(
    {"s": ["a", "a", "b", None], "n": [3, 3, 0, None], "w": [1.0, 2.0, 0.0, None]}
)


def sources(*, harm):
    """The private tables with, or without, one more unit: all rows that mean harm."""
    crowd = [PLAIN | {"unit": i % 40, "x": i % 9, "t": str(i % 5)} for i in range(120)]
    bad = [PLAIN | {"unit": 999} | change for change in HARM] if harm else []
    table = pa.Table.from_pylist(crowd + bad, SCHEMA)
    return {"data": table, "more": table, "rows": table, "lookup": LOOKUP}


def session(*, harm):
    bounds = {"x": (-5, 8), "y": (-2, 3), "n": (0, 9)}
    keys = {"s": ["a", "b"], "n": [0, 1, 3]}
    person = {"unit": "unit", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
    tables = [
        *(Table.declare(name, bounds=bounds, keys=keys, **person) for name in ("data", "more")),
        Table.declare("rows", bounds=bounds, keys=keys),
        Table.declare("lookup", bounds={"w": (0, 3)}, keys=keys, public=True),
    ]
    policy = Policy(tables, epsilon=10**9)
    return Session(policy, DuckDB.open(sources(harm=harm)), MemoryLedger(epsilon=10**9))


EXPRESSIONS = [text for texts in USES.values() for text in texts]
WHERE = [f"SELECT COUNT(*) AS a FROM data WHERE ({piece}) IS NOT NULL" for piece in EXPRESSIONS]
BY_CASE = [
    f"SELECT s, SUM(CASE WHEN ({piece}) IS NULL THEN -1 ELSE x END) AS a FROM rows GROUP BY s"
    for piece in EXPRESSIONS[::3]
]
SHAPES = [
    "SELECT AVG(x / n) AS a FROM data WHERE n > 0",
    "SELECT SUM(CLAMP(1 / x, 0, 9)) AS a FROM data",
    "SELECT SUM(CASE WHEN x <> 0 THEN CLAMP(1 / x, 0, 1) ELSE 1 / 0 END) AS a FROM data",
    "SELECT n, COUNT(*) AS a FROM data GROUP BY n",
    "SELECT FLOOR(x) AS k, COUNT(*) AS a FROM data GROUP BY FLOOR(x)",
    "SELECT CAST(t AS INTEGER) = 1 AS k, COUNT(*) AS a FROM data GROUP BY 1",
    "SELECT d < e AS k, COUNT(*) AS a FROM data GROUP BY 1",
    "SELECT EXTRACT(month FROM d) AS k, COUNT(*) AS a FROM data GROUP BY 1",
    "SELECT HISTOGRAM(x, 5) AS a, STDDEV(n) AS c FROM data",
    "SELECT CLIPPED(x) AS a FROM data",
    "SELECT COUNT(DISTINCT unit) AS a FROM data WHERE t LIKE s",
    *(
        f"SELECT COUNT(*) AS a, SUM({piece}) AS c FROM {source}"
        for piece in ("x", "w")
        for source in (
            "data JOIN lookup USING (s)",
            "data LEFT JOIN lookup ON data.n = lookup.n",
            "data JOIN lookup ON t LIKE lookup.s OR 1 / x > w",
            "rows JOIN lookup ON rows.s = lookup.s",
            "rows LEFT JOIN lookup ON CAST(t AS DOUBLE) = w",
            "rows CROSS JOIN lookup",
            "data JOIN lookup ON SUBSTRING(t, 1, 1) = lookup.s",
            "data JOIN lookup ON EXTRACT(year FROM d) = w",
            "data JOIN lookup ON SQRT(x) = w",
        )
    ),
    *(
        f"SELECT {piece} AS a FROM {source}"
        for piece in ("COUNT(*)", "SUM(data.x)", "AVG(more.n)")
        for source in (
            "data JOIN more ON data.unit = more.unit",
            "data LEFT JOIN more ON data.unit = more.unit AND data.t = more.s",
            "data JOIN more ON data.unit = more.unit AND 1 / data.x > more.x",
            "data FULL JOIN more ON data.unit = more.unit",
        )
    ),
    *(
        f"SELECT AVG(a) AS a FROM (SELECT unit, {piece} AS a FROM data GROUP BY unit)"
        for piece in (
            *("SUM(x)", "SUM(1 + n)", "AVG(x)", "STDDEV(x)", "VAR_POP(n)", "COUNT(*)"),
            *("COUNT(DISTINCT t)", "MAX(x)", "MIN(n)", "SUM(x) / COUNT(t)", "COUNT(s)"),
            *("CLAMP(1 / SUM(x), 0, 1)", "SUM(CASE WHEN b THEN 1 ELSE 0 END)"),
        )
    ),
    *(
        f"SELECT COUNT(*) AS a FROM data WHERE {piece}"
        for piece in (
            "EXISTS (SELECT 1 FROM more AS m WHERE m.unit = data.unit AND m.x > 3)",
            "NOT EXISTS (SELECT 1 FROM more AS m WHERE m.unit = data.unit AND m.t = '2')",
            "x > (SELECT AVG(n) FROM more AS m WHERE m.unit = data.unit)",
            "x = (SELECT SUM(1 / x) FROM more AS m WHERE m.unit = data.unit AND m.x > 1)",
            "t IN (SELECT s FROM more AS m WHERE m.unit = data.unit)",
            "s IN (SELECT s FROM lookup)",
            "x > (SELECT MAX(w) FROM lookup WHERE lookup.s = data.s)",
            "n NOT IN (SELECT n FROM lookup WHERE w > 0)",
            "EXISTS (SELECT 1 FROM more)",
            "x > (SELECT x FROM more)",
            "x > (SELECT MAX(x) FROM more)",
        )
    ),
    *(
        f"SELECT s, COUNT(*) AS a FROM ({piece}) GROUP BY s"
        for piece in (
            "SELECT DISTINCT unit, s FROM data",
            "SELECT unit, s, x FROM data UNION ALL SELECT unit, t, n FROM more",
            "SELECT s, x FROM rows UNION ALL SELECT t, n FROM rows",
            "SELECT DISTINCT s FROM data",
            "SELECT s FROM data ORDER BY x LIMIT 3",
            "SELECT s, SUM(x) AS x FROM data GROUP BY s",
        )
    ),
    *(f"SELECT {piece} AS a FROM data" for piece in ("error(t)", "x", "SUM(t)", "SUM(n / x)")),
]
TEMPLATES = list(dict.fromkeys(WHERE + BY_CASE + SHAPES))


@pytest.fixture(scope="module")
def both():
    pair = [session(harm=False), session(harm=True)]
    yield pair
    for opened in pair:
        opened.close()


def told(opened, text):
    """Everything that comes back, except the noise."""
    before = opened.remaining
    try:
        answer = opened.sql(text, epsilon=Fraction(1, 10), fresh=True)
    except EngineFailed as failure:
        raise AssertionError(f"a row made the engine fail on {text!r}") from failure
    except Exception as refusal:
        return type(refusal), str(refusal), opened.remaining == before
    table = answer.to_arrow()
    keys = [table[key.name].to_pylist() for key in answer.plan.keys]
    spent = before.epsilon - opened.remaining.epsilon
    return table.schema, table.num_rows, keys, spent, answer.plan.engine_sql, str(answer.plan)


def test_there_are_two_hundred():
    assert len(TEMPLATES) >= 200


def test_a_row_that_means_harm_changes_nothing_but_noise(both, size):
    step = size(small=8, full=1, what="as the step through the hostile questions")
    answered = 0
    for text in TEMPLATES[::step]:
        harmless, two = (told(opened, text) for opened in both)
        assert harmless == two, text
        answered += len(harmless) == 6
    assert answered >= 150 // step
