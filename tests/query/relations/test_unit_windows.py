"""Windows inside FROM: they depend on the rows of one unit, and not on their order."""

import contextlib
import re

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.engines.duckdb.engine import DuckDB
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.release.certificate.kernel_check import KernelCheck
from tests.engines.neighbors import SALT, excess, run

SCHEMA = {"id": "BIGINT", "ward": "VARCHAR", "cost": "DOUBLE", "day": "BIGINT"}
NUMBER = "ROW_NUMBER() OVER (PARTITION BY id{} ORDER BY {}) AS n FROM data"
OVER = "OVER (PARTITION BY id ORDER BY day)"
QUESTIONS = [
    f"SELECT COUNT(*), SUM(cost) FROM (SELECT cost, {NUMBER.format('', 'day')}) WHERE n = 1",
    f"SELECT ward, SUM(cost) FROM (SELECT *, {NUMBER.format('', 'cost DESC')}) WHERE n <= 2 "
    "GROUP BY ward",
    f"SELECT AVG(cost) FROM (SELECT cost, {NUMBER.format(', ward', 'day DESC, ward')}) "
    "WHERE n BETWEEN 2 AND 3",
    f"SELECT SUM(n) FROM (SELECT CLAMP(n, 0, 9) AS n FROM (SELECT {NUMBER.format('', 'day')}))",
    f"SELECT COUNT(DISTINCT id) FROM (SELECT id, ward, {NUMBER.format('', 'ward, cost')}) "
    "WHERE n = 1 AND ward = 'A'",
    f"SELECT ward, SUM(more), COUNT(*) FROM (SELECT ward, cost - LAG(cost) {OVER} AS more FROM "
    "data) GROUP BY ward",
    f"SELECT SUM(a), SUM(b) FROM (SELECT LEAD(cost, 2) {OVER} AS a, FIRST_VALUE(cost) OVER "
    "(PARTITION BY id ORDER BY ward DESC) AS b FROM data WHERE cost < 40)",
    "SELECT SUM(a), SUM(b), SUM(c) FROM (SELECT SUM(cost) OVER (PARTITION BY id ORDER BY day) "
    "AS a, AVG(cost) OVER (PARTITION BY id, ward) AS b, COUNT(cost) OVER (PARTITION BY id "
    "ORDER BY ward DESC) AS c FROM data)",
    "SELECT SUM(a), SUM(b) FROM (SELECT SUM(cost) OVER (PARTITION BY id ORDER BY day ROWS "
    "BETWEEN 1 PRECEDING AND CURRENT ROW) AS a, LAST_VALUE(cost) OVER (PARTITION BY id ORDER "
    "BY day ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS b FROM data)",
    "SELECT ward, SUM(m) FROM (SELECT id, ward, MEDIAN(cost) AS m FROM data GROUP BY id, ward) "
    "GROUP BY ward",
    "SELECT COUNT(*) FROM (SELECT ward FROM data QUALIFY RANK() OVER (PARTITION BY id ORDER BY "
    "day) = DENSE_RANK() OVER (PARTITION BY id, ward ORDER BY cost)) WHERE ward = 'A'",
    "SELECT ward, SUM(cost) FROM (SELECT DISTINCT ON (id) ward, MAX(cost) OVER (PARTITION BY "
    "id) AS cost FROM data ORDER BY id, day) GROUP BY ward",
]


def policy(neighbors="add-remove", **more):
    limits = {"max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
    data = Table.declare(
        "data", unit="id", neighbors=neighbors, bounds={"cost": (0, 50), "day": (0, 9)},
        keys={"ward": ["A", "B"], **more}, **limits,
    )  # fmt: skip
    schema = SCHEMA | dict.fromkeys(more, "BIGINT")
    return Policy([data.with_schema(schema)], epsilon=10**6, delta=0.1)


def draw_rows(draw, people, most=9):
    """Rows with many ties, NULLs and both zeros."""
    count = int(draw.integers(0, most))
    costs = [None, 0.0, -0.0, 1.0, float("nan"), 99.0]
    return [
        (
            int(draw.choice(people)),
            [None, "A", "B", "C"][draw.integers(0, 4)],
            costs[draw.integers(0, len(costs))],
            [None, 1, 1, 2][draw.integers(0, 4)],
        )
        for _ in range(count)
    ]


def table(rows, *more):
    names = [*SCHEMA, *more]
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    types = [pa.int64(), pa.string(), pa.float64(), pa.int64(), *[pa.int64() for _ in more]]
    values = zip(names, columns, types, strict=True)
    return pa.table({name: pa.array(list(column), kind) for name, column, kind in values})


@contextlib.contextmanager
def opened(rows, *more):
    with DuckDB.open({"data": table(rows, *more)}) as engine:
        engine._salt = SALT
        yield engine


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_one_unit_moves_no_integer_further_than_declared_in_any_order(neighbors, size):
    count = size(small=15, full=150, what="neighbouring tables with numbered rows")
    draw, known = np.random.default_rng(20), policy(neighbors)
    plans = [plan(parse(sql), known, epsilon=1000) for sql in QUESTIONS]
    for query_plan in plans:
        KernelCheck.of(query_plan, known)
    for _ in range(count):
        others = draw_rows(draw, [2, 3])
        left = others + (draw_rows(draw, [1]) if neighbors == "replace" else [])
        right = others + draw_rows(draw, [1])
        shuffled = [right[place] for place in draw.permutation(len(right))]
        with opened(left) as a, opened(right) as b, opened(shuffled) as c:
            for sql, query_plan in zip(QUESTIONS, plans, strict=True):
                answers = [run(engine, query_plan) for engine in (a, b, c)]
                assert not any(isinstance(answer, str) for answer in answers), sql
                assert not excess(query_plan, answers[0], answers[1]), (sql, left, right)
                assert answers[1] == answers[2], (sql, right)


def by_pair(sql):
    """The question of every side of every pair at once: its number is one more key."""
    sql = re.sub(r"\(SELECT (DISTINCT ON \(id\) )?(?!\*)", r"(SELECT \1pair, ", sql)
    inner, keyed = sql.replace("BY id, ward)", "BY id, pair, ward)"), "GROUP BY ward"
    ended = inner.removesuffix(keyed)
    return f"{ended} GROUP BY pair{', ward' if ended != inner else ''}"


def many_rows(draw, count, neighbors):
    """Rows of many pairs: everybody is another unit on each side of each pair."""
    rows = []
    for number in range(count):
        others = draw_rows(draw, [2, 3])
        left = others + (draw_rows(draw, [1]) if neighbors == "replace" else [])
        for side, own in enumerate((left, others + draw_rows(draw, [1]))):
            pair = 2 * number + side
            rows += [(4 * pair + unit, *rest, pair) for unit, *rest in own]
    return rows


def numbers_of(answer, count):
    """What was found on each side of each pair."""
    sides = [({}, {}) for _ in range(2 * count)]
    groups, cells = answer
    assert not cells
    for ((pair, *key), name), value in groups.items():
        sides[pair][0][tuple(key), name] = value
    return list(zip(sides[::2], sides[1::2], strict=True))


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_one_unit_moves_no_integer_of_many_tables_further_than_declared(neighbors, size):
    """As above, with all pairs in one table. No unit is in more groups than it may be, so the
    hash of its name chooses nothing, and both sides may have their own names."""
    count = size(
        small=200, full=10_000, what="pairs of tables with numbered rows, in one table"
    )
    draw, known = np.random.default_rng(21), policy(neighbors)
    wide = policy(neighbors, pair=list(range(2 * count)))
    rows = many_rows(draw, count, neighbors)
    shuffled = [rows[place] for place in draw.permutation(len(rows))]
    moved = 0
    with opened(rows, "pair") as engine, opened(shuffled, "pair") as other:
        for sql in QUESTIONS:
            declared = plan(parse(sql), known, epsilon=1000)
            query_plan = plan(parse(by_pair(sql)), wide, epsilon=1000)
            assert (query_plan.features, len(query_plan.keys)) == (
                declared.features,
                len(declared.keys) + 1,
            )
            answer = run(engine, query_plan)
            assert answer == run(other, query_plan), sql
            for left, right in numbers_of(answer, count):
                moved += left != right
                assert not excess(declared, left, right), (sql, left, right)
    assert moved >= count  # of twelve questions: neighbours differ


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT COUNT(*) FROM (SELECT {}) WHERE n = 1", "PARTITION BY id ORDER BY"),
        ("SELECT COUNT(*) FROM (SELECT ward, COUNT(*), {} GROUP BY ward)", "not grouped"),
        ("SELECT COUNT(*) FROM (SELECT n + 1 FROM (SELECT {}))", "PARTITION BY id ORDER BY"),
        ("SELECT COUNT(*) FROM (SELECT *, {} QUALIFY n = 1)", "PARTITION BY id ORDER BY"),
    ],
)
def test_rows_of_several_units_are_not_numbered(sql, words):
    text = sql.format("ROW_NUMBER() OVER (PARTITION BY ward ORDER BY day) AS n FROM data")
    with pytest.raises(dp.InvalidQuery, match=words):
        plan(parse(text), policy(), epsilon=1)


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ("ROW_NUMBER() OVER (PARTITION BY id ORDER BY day NULLS FIRST)", "NULLs come last"),
        ("ROW_NUMBER() OVER (PARTITION BY id)", "in which order"),
        ("LAG(cost) OVER (ORDER BY day)", "Without PARTITION BY the privacy unit"),
        ("LAG(cost, 1, 0) OVER (PARTITION BY id ORDER BY day)", "COALESCE"),
        ("LAG(cost, day) OVER (PARTITION BY id ORDER BY day)", "by constants from 0 to 1,000"),
        ("LAG(id) OVER (PARTITION BY id ORDER BY day)", "the privacy unit. Use the column"),
        ("LAST_VALUE(cost) OVER (PARTITION BY id ORDER BY day)", "FIRST_VALUE"),
        ("NTILE(2) OVER (PARTITION BY id ORDER BY day)", "The functions of windows here are"),
        ("COUNT(DISTINCT cost) OVER (PARTITION BY id)", "no other word"),
        ("RANK() OVER (PARTITION BY id ORDER BY day ROWS 1 PRECEDING)", "A frame belongs to"),
        ("SUM(cost) OVER (PARTITION BY id ROWS 1 PRECEDING)", "needs an order"),
        ("SUM(cost) OVER (PARTITION BY id ORDER BY day RANGE 1 PRECEDING)", "ROWS BETWEEN"),
        (
            "SUM(cost) OVER (PARTITION BY id ORDER BY day ROWS BETWEEN 1 FOLLOWING AND 1 "
            "PRECEDING)",
            "ends before it begins",
        ),
        ("MEDIAN(cost) OVER (PARTITION BY id)", "The functions of windows here are"),
    ],
)
def test_other_windows_are_refused_in_words(window, words):
    with pytest.raises(dp.InvalidQuery, match=words):
        plan(parse(f"SELECT SUM(x) FROM (SELECT {window} AS x FROM data)"), policy(), epsilon=1)


@pytest.mark.parametrize(
    "inner",
    [
        "id IN (SELECT id FROM data QUALIFY RANK() OVER (PARTITION BY id ORDER BY day) = 2)",
        "ward IN (SELECT DISTINCT ON (id) ward FROM data WHERE id = d.id ORDER BY id, day)",
        "EXISTS (SELECT 1 FROM data WHERE id = d.id QUALIFY SUM(cost) OVER (PARTITION BY id) > "
        "1)",
        "1 < (SELECT MAX(cost) FROM data WHERE id = d.id QUALIFY RANK() OVER (PARTITION BY id "
        "ORDER BY day) = 2)",
    ],
)
def test_no_window_of_a_sub_query_in_a_condition_is_forgotten(inner):
    with pytest.raises(dp.InvalidQuery, match="with QUALIFY or DISTINCT ON"):
        plan(parse(f"SELECT COUNT(*) FROM data AS d WHERE {inner}"), policy(), epsilon=1)


def test_a_window_in_from_of_a_sub_query_in_a_condition_counts():
    """Of two people, one has a second row."""
    inner = "SELECT * FROM data QUALIFY RANK() OVER (PARTITION BY id ORDER BY day) = 2"
    text = f"SELECT COUNT(DISTINCT id) FROM data WHERE id IN (SELECT id FROM ({inner}) AS v)"
    query_plan = plan(parse(text), policy(), epsilon=1)
    with opened([(1, "A", 1.0, 1), (1, "A", 1.0, 2), (2, "A", 1.0, 1)]) as engine:
        assert run(engine, query_plan) == ({((), "f0_0"): 1}, {})


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("SELECT DISTINCT ON (id) cost FROM data", "needs ORDER BY"),
        ("SELECT DISTINCT ON (ward) cost FROM data ORDER BY day", "PARTITION BY id"),
        (
            "SELECT cost FROM data QUALIFY cost > 1 AND RANK() OVER (ORDER BY cost) = 1",
            "Without",
        ),
    ],
)
def test_which_rows_are_kept_depends_on_one_unit(inner, words):
    with pytest.raises(dp.InvalidQuery, match=words):
        plan(parse(f"SELECT COUNT(*) FROM ({inner})"), policy(), epsilon=1)
