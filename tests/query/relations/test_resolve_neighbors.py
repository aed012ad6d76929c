"""Whatever one unit's rows are, joins, groups of one person and UNION ALL move no integer
further than was declared; and with any bound removed they would.

Many pairs of neighbouring tables are asked at once. Other people's choice of groups depends on
the side that they are on here, so with groups only those are asked who make the difference.
"""

import re
from dataclasses import replace
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.mechanisms import Gaussian
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.query.pairs import MAX_GROUPS, MAX_ROWS, WARDS, pairs

REGIONS = ["n", "s", "e", "w"]
LENGTH = 3  # elements of a list that count
# Shape: whose rows, what stands behind FROM, the column that groups, and what is asked.
SHAPES = {
    "public join": ("person", "data JOIN regions USING (ward)", "region", "x"),
    "left join": ("person", "data LEFT JOIN regions USING (ward)", "region", "x + factor"),
    "public, any condition": (
        "person",
        "data JOIN regions ON x > factor OR flag",
        "region",
        "x",
    ),
    "private join": ("person", "data JOIN more ON data.unit = more.unit", "kind", "z"),
    "left private join": (
        "person",
        "data LEFT JOIN more ON data.unit = more.unit AND z > x",
        "data.ward",
        "COALESCE(z, -3)",
    ),
    "private and public": (
        "person",
        "data JOIN more ON more.unit = data.unit JOIN regions ON regions.ward = data.ward",
        "region",
        "x * factor - z",
    ),
    "per person": (
        "person",
        "(SELECT unit, pair, SUM(y) AS total, COUNT(*) AS n FROM data GROUP BY unit, pair)",
        "",
        "total",
    ),
    "per person and ward": (
        "person",
        "(SELECT unit, pair, ward, AVG(x) AS a, SUM(y) AS total FROM data "
        "GROUP BY unit, pair, ward HAVING COUNT(*) > 1)",
        "ward",
        "total - a",
    ),
    "distinct": ("person", "(SELECT DISTINCT unit, pair, ward, x FROM data)", "ward", "x"),
    "distinct union": (
        "person",
        "(SELECT pair, unit, ward, x FROM data UNION SELECT pair, unit, kind, z FROM more)",
        "ward",
        "x",
    ),
    "except": (
        "person",
        "data WHERE unit IN (SELECT unit FROM data EXCEPT SELECT unit FROM more WHERE z > 5)",
        "ward",
        "x",
    ),
    "intersect": (
        "person",
        "data WHERE unit IN (SELECT unit FROM data INTERSECT SELECT unit FROM more)",
        "ward",
        "x",
    ),
    "except of two columns": (
        "person",
        "(SELECT unit, pair, ward FROM data EXCEPT SELECT unit, pair, kind FROM more)",
        "ward",
        "CLAMP(LENGTH(ward), 0, 5)",
    ),
    "intersect of two columns": (
        "person",
        "(SELECT unit, pair, ward FROM data INTERSECT SELECT unit, pair, kind FROM more)",
        "ward",
        "CLAMP(LENGTH(ward), 0, 5)",
    ),
    "texts put together": (
        "person",
        "data WHERE REPLACE(CONCAT(ward, 'xy') || code, 'xy', '-') <> 'A-p'",
        "ward",
        "x",
    ),
    "texts that grow": (
        "person",
        "data WHERE REPLACE(code, 'p', 'p-p') || REPLACE(ward, 'A', 'ä') <> 'p-pä'",
        "ward",
        "x",
    ),
    "moved dates": (
        "person",
        "data WHERE DATE '2026-01-31' + INTERVAL (CAST(y AS INTEGER)) MONTH > DATE "
        "'2026-02-28' + INTERVAL (LENGTH(code)) WEEK",
        "ward",
        "x",
    ),
    "union": (
        "person",
        "(SELECT pair, unit, ward, x FROM data UNION ALL SELECT pair, unit, kind, z FROM more)",
        "ward",
        "x",
    ),
    "exists": (
        "person",
        "data WHERE EXISTS (SELECT 1 FROM more AS m WHERE m.unit = data.unit AND m.z > 5)",
        "ward",
        "x",
    ),
    "semi join": (
        "person",
        "data SEMI JOIN more ON more.unit = data.unit AND more.z > 5",
        "ward",
        "x",
    ),
    "anti join": ("person", "data ANTI JOIN more USING (unit)", "ward", "x"),
    "natural join, named columns": (
        "person",
        "data NATURAL JOIN (SELECT unit, kind, z FROM more) AS m(unit, k, v)",
        "k",
        "v",
    ),
    "a value": (
        "person",
        "data WHERE x > (SELECT AVG(z) FROM more AS m WHERE m.unit = data.unit)",
        "ward",
        "y",
    ),
    "in": (
        "person",
        "data WHERE ward IN (SELECT kind FROM more AS m WHERE m.unit = data.unit)",
        "ward",
        "y",
    ),
    "elements": ("person", "data, UNNEST(marks) AS u(mark)", "mark", "x"),
    "elements added up": ("person", "data, UNNEST(scores) AS u(score)", "ward", "score"),
    "all rows, and their elements": (
        "person",
        "data LEFT JOIN UNNEST(scores) AS u(score) ON TRUE",
        "data.ward",
        "COALESCE(score, -3)",
    ),
    "elements and a public table": (
        "person",
        "data, UNNEST(marks) AS u(mark) JOIN regions ON regions.ward = mark",
        "region",
        "x * factor",
    ),
    "per person, elements": (
        "person",
        "(SELECT unit, pair, SUM(score) AS total FROM data, UNNEST(scores) AS u(score) GROUP "
        "BY unit, pair)",
        "",
        "total",
    ),
    "elements and a private table": (
        "person",
        "data JOIN (SELECT unit, UNNEST(marks) AS mark FROM data) AS m ON m.unit = data.unit",
        "mark",
        "x",
    ),
    "elements of several parts": (
        "person",
        "(SELECT unit, pair, marks AS m FROM data UNION ALL SELECT unit, pair, marks FROM data "
        "WHERE x > 5) AS v, UNNEST(m) AS u(mark)",
        "mark",
        "1",
    ),
    "elements of several parts added up": (
        "person",
        "(SELECT unit, pair, ward, scores FROM data UNION ALL SELECT unit, pair, code, scores "
        "FROM data) AS v, UNNEST(scores) AS u(score)",
        "ward",
        "score",
    ),
    "elements of rows": ("row", "rows, UNNEST(marks) AS u(mark)", "mark", "x"),
    "elements of rows added up": (
        "row",
        "(SELECT pair, ward, UNNEST(scores) AS score FROM rows)",
        "ward",
        "score",
    ),
    "rows and a public table": ("row", "rows JOIN regions USING (ward)", "region", "x"),
    "rows twice": (
        "row",
        "(SELECT pair, ward, x FROM rows UNION ALL SELECT pair, code, y FROM rows)",
        "ward",
        "x",
    ),
    "rows twice with a public table": (
        "row",
        "(SELECT pair, region, x FROM rows JOIN regions USING (ward) UNION ALL "
        "SELECT pair, ward, factor FROM rows CROSS JOIN "
        "(SELECT ward AS other, factor FROM regions))",
        "region",
        "x",
    ),
}
# The same shape, without the numbers of the pairs: what is declared for one table.
ASKED = ["COUNT(*)", "SUM({})", "AVG({}), COUNT(*)"]
CODES = [*"pqrst", "", None, "X"]
GROUPS = [*REGIONS, *(each for each in WARDS if each is not None), *CODES]
GROUPS = list(dict.fromkeys(GROUPS))


def policy(count, relation, sources=None):
    sources = sources or {}
    person = {
        "unit": "unit",
        "max_groups_per_unit": MAX_GROUPS,
        "max_rows_per_unit_per_group": MAX_ROWS,
    }
    alike = {"neighbors": relation}
    places = {"pair": list(range(2 * count))}
    names = [name for name in GROUPS if name is not None]
    bounds = {"x": (0, 100), "y": (-5.5, 20)}
    keys = places | {"ward": names, "code": names}
    schema = {"pair": "BIGINT", "ward": "VARCHAR", "code": "VARCHAR"}
    schema |= {"x": "DOUBLE", "y": "DOUBLE", "flag": "BOOLEAN"}
    schema |= {"marks": "VARCHAR[]", "scores": "DOUBLE[]"}
    lists = {"length": {"marks": LENGTH, "scores": LENGTH}}
    bounds, keys = bounds | {"scores": (-5.5, 20)}, keys | {"marks": names}
    tables = [
        Table.declare(
            "data",
            sources.get("data"),
            bounds=bounds,
            step={"x": 0.5},
            keys=keys,
            **lists,
            **person,
            **alike,
        ).with_schema({"unit": "BIGINT"} | schema),
        Table.declare(
            "more",
            sources.get("more"),
            bounds={"z": (-3, 9)},
            keys=places | {"kind": names},
            **person,
            **alike,
        ).with_schema({"unit": "BIGINT", "pair": "BIGINT", "kind": "VARCHAR", "z": "DOUBLE"}),
        Table.declare(
            "rows",
            sources.get("rows"),
            bounds=bounds,
            step={"x": 0.5},
            keys=keys,
            **lists,
            **alike,
        ).with_schema(schema),
        Table.declare(
            "regions",
            sources.get("regions"),
            bounds={"factor": (0, 4)},
            keys={"region": REGIONS},
            public=True,
        ).with_schema({"ward": "VARCHAR", "region": "VARCHAR", "factor": "DOUBLE"}),
    ]
    return Policy(tables, epsilon=10, delta=1e-2)


def public():
    """Every ward in some regions, some of them twice, and one of nobody's."""
    rows = [
        (w, REGIONS[(i + j) % 4], float(j)) for i, w in enumerate("ABCDEF") for j in range(4)
    ]
    rows += [("A", "n", 99.0), ("A", "n", 0.0), (None, "n", 1.0), ("B", None, None)]
    names = ("ward", "region", "factor")
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def second(data, seed):
    """Further rows of the same units, in the same pairs; alike on both sides for the others."""
    draw = np.random.default_rng(seed)
    unit, pair = (np.asarray(data[name]) for name in ("unit", "pair"))
    units, first = np.unique(unit, return_index=True)
    sides = np.where(units >= 0, units % 3, 0)  # of the others: which side
    base = np.where(units >= 0, units // 3, units)
    people, place = np.unique(base, return_inverse=True)
    sizes = draw.integers(0, 9, people.size)
    kinds = draw.integers(0, 6, (people.size, 9))
    values = draw.choice([-3.0, 9.0, 50.0, -50.0, np.nan, np.inf, 2.5], (people.size, 9))
    alike = draw.random(people.size) < 0.5  # one kind in all rows, at one end
    kinds[alike], values[alike] = kinds[alike, :1], 50.0
    assert set(sides) <= {0, 1}
    rows = [(i, j) for i, spot in enumerate(place) for j in range(sizes[spot])]
    i, j = np.array(rows).T
    return pa.table(
        {
            "unit": units[i],
            "pair": pair[first[i]],
            "kind": pa.array(WARDS[kinds[place[i], j]].tolist(), pa.string()),
            "z": values[place[i], j],
        }
    )


class Probe:
    """A question about a shape, asked of both sides of every pair at once."""

    def __init__(self, shape, aggregate, *, keyed, count, relation):
        self.whose, source, key, argument = SHAPES[shape]
        self.keyed, self.count, self.relation = keyed and bool(key), count, relation
        known = policy(count, relation)
        text = f"SELECT {aggregate.format(argument)} FROM {source}"
        pair = "data.pair" if "data." in source or "data JOIN more" in source else "pair"
        pair = "data.pair" if self.whose == "person" and "(SELECT" not in source[:8] else pair
        keys = [pair, *([key] if self.keyed else [])]
        self.declared = plan(
            parse(text + (f" GROUP BY {key}" if self.keyed else "")), known, epsilon=1, delta=0
        )
        probe = f"{text} GROUP BY {', '.join(keys)}"
        self.plan = plan(parse(probe), known, epsilon=1, delta=0)
        assert self.plan.features == self.declared.features

    def moved(self, engine, sql=None):
        """For each block, its worst distance in the norm that its noise is for."""
        query_plan = self.plan if sql is None else replace(self.plan, engine_sql=sql)
        integers = engine.run(query_plan).reveal_to(lambda exact: exact)
        names = GROUPS if self.keyed else [None]
        place = np.asarray(integers.keys[0]) * len(names)
        if self.keyed:
            place = place + np.array([names.index(key) for key in integers.keys[1].to_pylist()])
        worst = []
        for block in self.declared.blocks:
            apart = 0
            for name in block.features:
                dense = np.zeros(2 * self.count * len(names), dtype=object)
                dense[place] = integers.features[name]
                sides = dense.reshape(self.count, 2, len(names))
                steps = np.abs(sides[:, 0] - sides[:, 1])
                squared = isinstance(block.mechanism, Gaussian)
                apart = apart + (steps**2 if squared else steps).sum(axis=1)
            worst.append(max(apart))
        return worst

    def allowed(self):
        return [
            block.mechanism.sensitivity ** (2 if isinstance(block.mechanism, Gaussian) else 1)
            for block in self.declared.blocks
        ]

    def within(self, engine, sql=None):
        return all(a <= b for a, b in zip(self.moved(engine, sql), self.allowed(), strict=True))


def opened(count, relation, *, everybody, seed=1):
    data = pairs(count, relation=relation, person=True, seed=[count, seed])
    rows = pairs(count, relation=relation, person=False, seed=[count, seed + 1])
    if not everybody:
        data, rows = (table.filter(pc.field("unit") < 0) for table in (data, rows))
    more, regions = second(data, [count, seed, 5]), public()
    data, rows = with_lists(data), with_lists(rows.drop(["unit"]))
    sources = {"data": data, "more": more, "rows": rows, "regions": regions}
    return DuckDB.open(policy(count, relation, sources))


def with_lists(rows):
    """The rows with lists that depend on the row alone: missing, empty, with NULL, longer than
    what counts, and with one extreme in all places."""
    marks, scores = [], []
    for row in rows.to_pylist():
        ward, code, x, y = (row[name] for name in ("ward", "code", "x", "y"))
        kind = crc32(f"{x!r} {y!r}".encode()) % 6  # the same in every run
        marks.append([[ward] * 6, [ward, code, "A", "F"], [code, None], [], None, [ward]][kind])
        scores.append([[y] * 6, [x, y, None, -99.0], [20.0, 20.0], [], None, [-5.5]][kind])
    listed = {"marks": pa.array(marks, pa.list_(pa.string()))}
    listed["scores"] = pa.array(scores, pa.list_(pa.float64()))
    for name, values in listed.items():
        rows = rows.append_column(name, values)
    return rows


@pytest.fixture(scope="module")
def engines(size):
    count = size(small=100, full=10_000, what="neighbouring tables a shape and relation")
    databases = {
        (relation, everybody): opened(count, relation, everybody=everybody)
        for relation in ("add-remove", "replace")
        for everybody in (True, False)
    }
    yield count, databases
    for engine in databases.values():
        engine.close()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_unit_moves_the_integers_further_than_declared(engines, shape, relation):
    count, databases = engines
    reached = []
    for keyed in (False, True):
        engine = databases[relation, not keyed]
        for aggregate in ASKED:
            probe = Probe(shape, aggregate, keyed=keyed, count=count, relation=relation)
            moved, allowed = probe.moved(engine), probe.allowed()
            assert all(a <= b for a, b in zip(moved, allowed, strict=True)), (aggregate, keyed)
            reached += [a / b for a, b in zip(moved, allowed, strict=True)]
    assert max(reached) >= 0.3  # somebody comes near to what was declared


# What is taken away from the engine's SQL: a pattern, and what stands there instead.
MUTANTS = {
    "no limit of rows": ((r"WHEN c > \d+ THEN", "WHEN FALSE THEN"),),
    "no limit of groups": ((r"place <= \d+", "TRUE"),),
    "no clip": (  # neither of the value nor of its integer
        (
            r"CASE WHEN (TRY_CAST\(\w+ AS DOUBLE\)) > CAST\([^()]*\) THEN CAST\([^()]*\) "
            r"WHEN \1 < CAST\([^()]*\) THEN CAST\([^()]*\) ELSE \1 END",
            r"\1",
        ),
        (r"CASE WHEN (x\d+) > \S+ THEN \S+ WHEN \1 < \S+ THEN \S+ ELSE \1 END", r"\1"),
    ),
    "another number the second time": (
        (
            r"(UNION ALL SELECT .*?)\"u\" AS u FROM \"numbered rows\"",
            r'\1-"u" AS u FROM "numbered rows"',
        ),
    ),
}
# A row has no more elements than its limits allow, and there are four regions.
ENOUGH = {"elements of rows", "elements of rows added up"}
ENOUGH_GROUPS = {
    *ENOUGH,
    "elements and a public table",
    "intersect of two columns",
    "per person",
    "public, any condition",
}
CAUGHT = [
    *(
        ("no limit of rows", each, 0, False)
        for each in SHAPES
        if not each.startswith("per person") and each not in ENOUGH
    ),
    *(
        ("no limit of groups", each, 0, True)
        for each in SHAPES
        if each not in {*ENOUGH_GROUPS, "per person, elements"}
    ),
    ("no clip", "per person", 1, False),
    ("another number the second time", "rows twice", 0, False),
    ("another number the second time", "rows twice with a public table", 0, False),
]


@pytest.fixture(scope="module")
def worst():
    """Only those who make the difference, before and after they vanish."""
    with opened(120, "add-remove", everybody=False, seed=9) as engine:
        yield 120, engine


@pytest.mark.parametrize(("mutant", "shape", "aggregate", "keyed"), CAUGHT)
def test_with_a_bound_removed_it_fails(worst, mutant, shape, aggregate, keyed):
    count, engine = worst
    probe = Probe(shape, ASKED[aggregate], keyed=keyed, count=count, relation="add-remove")
    sql = probe.plan.engine_sql
    for pattern, instead in MUTANTS[mutant]:
        sql, changes = re.subn(pattern, instead, sql)
        assert changes, probe.plan.engine_sql
    assert probe.within(engine)
    assert not probe.within(engine, sql)
