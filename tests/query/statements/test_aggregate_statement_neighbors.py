"""Whatever one unit's rows are, the engine's integers move by no more than was declared."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.mechanisms import Gaussian
from deniable.policy import Policy, Table
from deniable.query.language.expressions import aggregates_in
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.query.relations.scope import Scope
from deniable.query.statements.statistics import statistics_for
from tests.query.pairs import CODES, MAX_GROUPS, MAX_ROWS, WARDS, pairs

AGGREGATES = {
    "rows": "COUNT(*)",
    "known": "COUNT(x)",
    "people": "COUNT(DISTINCT unit)",
    "sum": "SUM(x)",
    "signed sum": "SUM(y)",
    "average": "AVG(x)",
    "average and rows": "AVG(y), COUNT(*)",
    "variance": "VAR_SAMP(x)",
    "deviation and rows": "STDDEV_POP(y), COUNT(*)",
    "histogram": "HISTOGRAM(x, 4)",
    "histogram of wards": "HISTOGRAM(ward)",
    "sum of cases": "SUM(CASE WHEN x > 50 THEN 1 WHEN flag THEN -2 ELSE 0 END)",
    "sum of an expression": "SUM(x * 2 - ABS(y))",
    "how many were cut": "CLIPPED(x)",
    "several": "SUM(x), AVG(y), COUNT(*)",
}
MOMENTS = {code: 3600 * place for place, code in enumerate(CODES)}  # seconds since 1970
_WHEN = " ".join(
    f"WHEN '{code}' THEN '1970-01-01 {MOMENTS[code] // 3600:02}:30'" for code in CODES
)
HOUR = f"DATE_TRUNC('hour', CAST(CASE code {_WHEN} END AS TIMESTAMP))"
PRIVATE = ("code", HOUR)
SHAPES = [
    ("", ""),
    ("ward", "WHERE flag"),
    ("code", "WHERE x >= 10 OR flag IS NULL"),
    (HOUR, "WHERE flag"),
]


def policy(count, *, relation, person):
    limits = (
        {
            "unit": "unit",
            "max_groups_per_unit": MAX_GROUPS,
            "max_rows_per_unit_per_group": MAX_ROWS,
        }
        if person
        else {}
    )
    table = Table.declare(
        "data",
        bounds={"x": (0, 100), "y": (-5.5, 20)},
        step={"x": 0.5},
        keys={"ward": list("ABCDEF"), "code": "private", "pair": list(range(2 * count))},
        neighbors=relation,
        **limits,
    )
    schema = dict.fromkeys(("pair", "unit"), "BIGINT") | dict.fromkeys(
        ("ward", "code"), "VARCHAR"
    )
    schema |= {"x": "DOUBLE", "y": "DOUBLE", "flag": "BOOLEAN"}
    return Policy([table.with_schema(schema)], epsilon=10, delta=1e-2)


class Probe:
    """A question, asked of every side of every pair at once."""

    def __init__(self, aggregate, key, where, *, count, relation, person, nulls=False):
        self.count, self.key = count, key
        self.relation, self.person = relation, person
        known = policy(count, relation=relation, person=person)
        text = f"SELECT {aggregate} FROM data {where}"
        grouped = f"{text} GROUP BY {key}" if key else text
        delta = {"delta": 1e-3 if key in PRIVATE else 0, "nulls": nulls}
        self.declared = plan(parse(grouped), known, epsilon=1, **delta)
        apart = f"{text} GROUP BY pair{', ' + key if key else ''}"
        self.plan = plan(parse(apart), known, epsilon=1, **delta)
        assert self.plan.features == self.declared.features
        table = known.tables["data"]
        calls = [call for out in parse(text).outputs for call in aggregates_in(out.expression)]
        if key in PRIVATE:  # where keys are private, the number of units comes with them
            free = "COUNT(DISTINCT unit)" if person else "COUNT(*)"
            calls = [call for call in calls if str(call) != free]
        statistics = statistics_for(calls, Scope(table), finest=2**60)
        self.statistics = list(dict.fromkeys(statistics.values()))

    def moved(self, engine, sql=None):
        """For each block the worst L1 and squared L2 distance, and the same of the units."""
        query_plan = self.plan if sql is None else replace(self.plan, engine_sql=sql)
        integers = engine.run(query_plan).reveal_to(lambda exact: exact)
        known = {"": [None], "ward": list(WARDS), "code": list(CODES)}
        names = (known | {HOUR: [*MOMENTS.values(), None]})[self.key]
        place = np.asarray(integers.keys[0]) * len(names)
        if self.key:
            place = place + np.array(
                [names.index(each) for each in integers.keys[1].to_pylist()]
            )
        columns = dict(integers.features)
        if integers.units is not None:
            columns["units"] = integers.units
        apart = {}
        for name, values in columns.items():
            dense = np.zeros(2 * self.count * len(names), dtype=object)
            dense[place] = values
            sides = dense.reshape(self.count, 2, len(names))
            apart[name] = np.abs(sides[:, 0] - sides[:, 1])
        blocks = [list(each.features) for each in self.plan.blocks]
        blocks += [["units"]] if "units" in columns else []
        return [
            (
                max(sum(apart[name].sum(axis=1) for name in names_)),
                max(sum((apart[name] ** 2).sum(axis=1) for name in names_)),
            )
            for names_ in blocks
        ]

    def allowed(self):
        """What the plan declared: L1 from its mechanisms, squared L2 from its statistics."""
        sizes = [
            statistic.sensitivities(
                groups=self.declared.max_groups_per_unit,
                rows=self.declared.max_rows_per_unit_per_group,
                neighbors=self.relation,
                keyed=bool(self.key),
            )
            for statistic in self.statistics
        ]
        for (l1, square), block in zip(sizes, self.declared.blocks, strict=True):
            declared = block.mechanism.sensitivity
            assert declared == l1 or declared**2 >= square
        if self.declared.thresholding is not None:
            sides = 2 if self.relation == "replace" else 1
            assert self.declared.thresholding.groups == self.declared.max_groups_per_unit
            sizes.append((sides * self.declared.max_groups_per_unit,) * 2)
        return sizes


def within(moved, allowed):
    return all(
        l1 <= most and square <= most_square
        for (l1, square), (most, most_square) in zip(moved, allowed, strict=True)
    )


@pytest.fixture(scope="module")
def engines(size):
    count = size(small=300, full=10_000, what="neighbouring tables an aggregate and relation")
    opened = {}
    for relation in ("add-remove", "replace"):
        for person in (True, False):
            table = pairs(count, relation=relation, person=person, seed=[count, person])
            opened[relation, person] = DuckDB.open({"data": table})
    yield count, opened
    for engine in opened.values():
        engine.close()


PROTECTED = [
    (aggregate, whose)
    for aggregate in AGGREGATES
    for whose in ("person", "row")
    if (aggregate, whose) != ("people", "row")  # where a row is a unit, COUNT(*) counts them
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("aggregate", "whose"), PROTECTED)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_unit_moves_the_integers_further_than_declared(engines, aggregate, whose, relation):
    person = whose == "person"
    count, opened = engines
    reached = []
    for key, where in SHAPES:
        probe = Probe(
            AGGREGATES[aggregate], key, where, count=count, relation=relation, person=person
        )
        moved, allowed = probe.moved(opened[relation, person]), probe.allowed()
        assert within(moved, allowed), (key, where, moved, allowed)
        reached += [l1 / most for (l1, _), (most, _) in zip(moved, allowed, strict=True)]
    # Not padded either: somewhere somebody comes near to what was declared.
    assert max(reached) >= 0.5


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("person", [True, False])
def test_null_is_one_more_group_within_the_same_limits(engines, relation, person):
    count, opened = engines
    facts = {"count": count, "relation": relation, "person": person, "nulls": True}
    probe = Probe("SUM(x), COUNT(*)", "ward", "WHERE flag IS NULL OR x > 1", **facts)
    assert probe.declared.keys[0].values == (*"ABCDEF", None)
    assert probe.declared.max_groups_per_unit == (MAX_GROUPS if person else 1)
    moved, allowed = probe.moved(opened[relation, person]), probe.allowed()
    assert within(moved, allowed)
    assert max(l1 / most for (l1, _), (most, _) in zip(moved, allowed, strict=True)) >= 0.5


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_rest_added_up_in_one_group_moves_no_further(engines, relation):
    """What is in no declared group of two keys is one group, where a unit's groups add up.

    Only the units that make the difference, because the others may exceed two groups here.
    """
    count, _ = engines
    table = pairs(count, relation=relation, person=True, seed=5)
    known = policy(count, relation=relation, person=True)
    text = "SELECT SUM(x), COUNT(*) FROM data GROUP BY {}ward, flag"
    declared = plan(parse(text.format("")), known, epsilon=1, delta=1e-3, other=True)
    probe = plan(parse(text.format("pair, ")), known, epsilon=1, delta=1e-3, other=True)
    with DuckDB.open({"data": table.filter(pc.field("unit") < 0)}) as engine:
        integers = engine.run(probe).reveal_to(lambda exact: exact)
    pair, ward, flag = (np.array(column.to_pylist(), dtype=object) for column in integers.keys)
    cells = [
        0 if w is None or f is None else 1 + 2 * "ABCDEF".index(w) + f
        for w, f in zip(ward, flag, strict=True)
    ]
    assert 0 in cells
    for block in declared.blocks:
        apart = 0
        for name in block.features:
            dense = np.zeros((2 * count, 13), dtype=object)
            np.add.at(dense, (pair.astype(int), np.array(cells)), integers.features[name])
            steps = np.abs(dense[::2] - dense[1::2])
            apart = apart + (
                (steps**2).sum(axis=1)
                if isinstance(block.mechanism, Gaussian)
                else steps.sum(axis=1)
            )
        most = block.mechanism.sensitivity
        assert apart.max() <= (most**2 if isinstance(block.mechanism, Gaussian) else most)


# What is taken away from the engine's SQL: patterns, and what stands there instead.
MUTANTS = {
    "no clip": (  # neither of the column nor of its integer
        (
            r"CASE WHEN (TRY_CAST\(\"[xy]\" AS DOUBLE\)) > CAST\([^()]*\) THEN CAST\([^()]*\) "
            r"WHEN \1 < CAST\([^()]*\) THEN CAST\([^()]*\) ELSE \1 END",
            r"\1",
        ),
        (
            r"CASE WHEN (x\d+b?) > \S+ THEN \S+ WHEN \1 < \S+ THEN \S+ ELSE \1 END",
            r"\1",
        ),
    ),
    "no limit of rows": ((r"WHEN c > \d+ THEN", "WHEN FALSE THEN"),),
    "one row too many": ((r"\* 3 // c", "* 4 // c"),),
    "no limit of groups": ((r"place <= \d+", "TRUE"),),
    "one group too many": ((r"place <= 2", "place <= 3"),),
}
CAUGHT = [
    ("no clip", "sum", "", True),
    ("no clip", "signed sum", "", True),
    ("no clip", "average", "ward", True),
    ("no clip", "variance", "", True),
    ("no clip", "average", "ward", False),
    *(
        (mutant, aggregate, "ward", True)
        for mutant in MUTANTS
        if mutant != "no clip"
        for aggregate in ("rows", "sum", "average", "histogram")
    ),
    ("no limit of groups", "people", "ward", True),
    ("one group too many", "people", "code", True),
]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(("mutant", "aggregate", "key", "person"), CAUGHT)
def test_with_a_clip_or_limit_removed_it_fails(mutant, aggregate, key, person, relation):
    count = 400
    table = pairs(count, relation=relation, person=person, seed=7, wild=False)
    probe = Probe(AGGREGATES[aggregate], key, "", count=count, relation=relation, person=person)
    sql = probe.plan.engine_sql
    for pattern, instead in MUTANTS[mutant]:
        sql, changes = re.subn(pattern, instead, sql)
        assert changes, sql
    with DuckDB.open({"data": table}) as engine:
        assert within(probe.moved(engine), probe.allowed())
        assert not within(probe.moved(engine, sql), probe.allowed())


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_one_pair_at_a_time_with_units_beyond_their_limits(size, relation):
    """The same salt on both sides, and everybody may exceed every limit, NULL units too."""
    tables = size(small=3, full=150, what="single pairs of tables")
    draw = np.random.default_rng(11)
    known = policy(1, relation=relation, person=True)
    texts = [
        f"SELECT {AGGREGATES[name]} FROM data GROUP BY {key}"
        for name in ("several", "deviation and rows", "people")
        for key in ("ward", "code")
    ]
    plans = [plan(parse(text), known, epsilon=1, delta=1e-3) for text in texts]
    for number in range(tables):
        crowd = pairs(30, relation="add-remove", person=True, seed=[number, 3]).to_pylist()
        units = [None, *range(5)]
        for row in crowd:
            row["pair"], row["unit"] = 0, units[draw.integers(0, len(units))]
        who = units[number % len(units)]
        rest = [row for row in crowd if row["unit"] != who]
        other = []
        if relation == "replace":
            other = pairs(9, relation="add-remove", person=True, seed=[number, 5]).to_pylist()
            other = [row | {"pair": 0, "unit": who} for row in other]
        schema = pairs(1, relation=relation, person=True, seed=1).schema
        sides = [pa.Table.from_pylist(rows, schema=schema) for rows in (crowd, rest + other)]
        answers = []
        for table in sides:
            with DuckDB.open({"data": table}) as engine:
                engine._salt = 2**62 + 12345
                answers.append([engine.run(each).reveal_to(_by_key) for each in plans])
        for query_plan, first, two in zip(plans, *answers, strict=True):
            _compare(query_plan, first, two, relation)


def _by_key(exact):
    columns = dict(exact.features) | ({} if exact.units is None else {"units": exact.units})
    return {
        (name, key): int(values[i])
        for name, values in columns.items()
        for i, key in enumerate(exact.keys[0].to_pylist())
    }


def _compare(query_plan, first, two, relation):
    apart = {key: abs(first.get(key, 0) - two.get(key, 0)) for key in {*first, *two}}
    for block in query_plan.blocks:
        steps = [d for (name, _), d in apart.items() if name in block.features]
        if hasattr(block.mechanism, "epsilon"):
            assert sum(steps) <= block.mechanism.sensitivity
        else:
            assert sum(d**2 for d in steps) <= block.mechanism.sensitivity**2
    units = [d for (name, _), d in apart.items() if name == "units"]
    assert sum(units) <= MAX_GROUPS * (2 if relation == "replace" else 1)
    assert all(d <= 1 for d in units)
