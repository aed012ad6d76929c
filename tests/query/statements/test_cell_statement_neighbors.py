"""Whatever one unit's rows are, cells and distinct values move by no more than was declared."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from deniable.engines.duckdb.engine import DuckDB
from deniable.mechanisms import Gaussian, PermuteAndFlip, QuantileIntervals, Quantiles
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from tests.query.pairs import CODES, MAX_GROUPS, MAX_ROWS, WARDS, pairs
from tests.query.statements.test_aggregate_statement_neighbors import (
    HOUR,
    MOMENTS,
    PRIVATE,
    SHAPES,
    policy,
)

AGGREGATES = {
    "median": "MEDIAN(x)",
    "quantiles": "QUANTILE_CONT(y, [0.1, 0.3, 0.5, 0.9])",
    "extremes": "MIN(x), MAX(x)",
    "median of an expression": "MEDIAN(x * 2 - ABS(y))",
    "mode": "MODE(ward)",
    "mode of numbers": "MODE(FLOOR(x / 10))",
    "top": "TOP_K(ward, 2)",
    "distinct texts": "COUNT(DISTINCT code)",
    "distinct numbers": "COUNT(DISTINCT x)",
    "distinct flags": "COUNT(DISTINCT flag)",
    "distinct sum": "SUM(DISTINCT x)",
    "distinct signed sum": "SUM(DISTINCT y)",
    "distinct sum of few": "SUM(DISTINCT FLOOR(x / 10) - 5)",
}
NAMES = {"": [None], "ward": list(WARDS), "code": list(CODES)}
NAMES[HOUR] = [*MOMENTS.values(), None]


class Probe:
    """A question about cells, asked of every side of every pair at once."""

    def __init__(self, aggregate, key, where, *, count, relation, person):
        self.count, self.key, self.relation = count, key, relation
        known = policy(count, relation=relation, person=person)
        text = f"SELECT {aggregate} FROM data {where}"
        delta = {"delta": 1e-3} if key in PRIVATE else {"delta": 0}
        grouped = f"{text} GROUP BY {key}" if key else text
        self.declared = plan(parse(grouped), known, epsilon=1, **delta)
        apart = f"{text} GROUP BY pair{', ' + key if key else ''}"
        self.plan = plan(parse(apart), known, epsilon=1, **delta)

    def excess(self, engine, change=None):
        """Of each statement the largest number of steps, over what is declared."""
        query_plan = self.plan if change is None else changed(self.plan, *change)
        integers = engine.run(query_plan).reveal_to(lambda exact: exact)
        declared = [part for part in self.declared.blocks if part.sql] + [
            *self.declared.choices
        ]
        names = [part.name for part in query_plan.statements if part.kind == "cells"]
        return [
            (max(self.steps(part, integers.cells[name])), most_steps(part, self.declared))
            for name, part in zip(names, declared, strict=True)
        ]

    def steps(self, part, cells):
        """For each pair, how many of the mechanism's steps its sides are apart."""
        pair, side = np.divmod(np.asarray(cells.keys[0]), 2)
        group = np.zeros_like(pair)
        if self.key:
            names = NAMES[self.key]
            group = np.array([names.index(k) for k in cells.keys[1].to_pylist()])
        moved = Moved.of(pair, group, cells.cell, np.where(side == 0, 1, -1) * cells.count)
        return distance(part, moved, self.count)


@dataclass(frozen=True)
class Moved:
    """By how much counts differ between the sides of pairs, where they do."""

    pair: np.ndarray
    group: np.ndarray
    by: np.ndarray

    @classmethod
    def of(cls, pair, group, cell, signed):
        """From counts of both sides, those of one of them negative."""
        width = cell.max(initial=0) + 1
        place = (pair * 100 + group) * width + cell
        cells, same = np.unique(place, return_inverse=True)
        by = np.zeros(cells.size, dtype=np.int64)
        np.add.at(by, same, signed)
        return cls(cells // width // 100, cells // width % 100, by)


def distance(piece, moved, pairs_):
    """Steps between the two sides of each pair."""
    more, fewer = np.maximum(moved.by, 0), np.maximum(-moved.by, 0)
    added, removed = (
        np.bincount(moved.pair, weights=part, minlength=pairs_) for part in (more, fewer)
    )
    if not hasattr(piece, "changes"):  # a block with noise: L1
        return added + removed
    if isinstance(piece.mechanism, Quantiles | QuantileIntervals):
        alone = piece.mechanism.neighbors == "replace"  # one row for another is one step
        return np.maximum(added, removed) if alone else added + removed
    # A step of a choice: all counts of a group move one way, none by more than `sensitivity`.
    assert isinstance(piece.mechanism, PermuteAndFlip)
    most = np.zeros((2, pairs_ * 100), dtype=np.int64)
    for side, part in zip(most, (more, fewer), strict=True):
        np.maximum.at(side, moved.pair * 100 + moved.group, part)
    up, down = np.ceil(most / int(piece.mechanism.sensitivity))
    each = up + down if piece.mechanism.monotone else np.maximum(up, down)
    return each.reshape(pairs_, 100).sum(axis=1)


def most_steps(part, declared):
    """What a plan declares: steps of a choice; of a block with noise its L1 distance, from
    which its mechanism's sensitivity follows, be it Laplace or Gaussian."""
    if hasattr(part, "changes"):
        return part.changes
    l1, square = part.reach.sensitivities(
        groups=declared.max_groups_per_unit,
        rows=declared.max_rows_per_unit_per_group,
        neighbors=declared.neighbors,
        keyed=bool(declared.keys),
    )
    norm = square if isinstance(part.mechanism, Gaussian) else l1**2
    assert part.mechanism.sensitivity**2 >= norm
    return l1


def changed(query_plan, pattern, instead):
    """The plan with something taken away from its statements about cells."""
    count = 0

    def cut(sql):
        nonlocal count
        text, changes = re.subn(pattern, instead, sql)
        count += changes
        return text

    blocks = tuple(replace(part, sql=cut(part.sql)) for part in query_plan.blocks)
    choices = tuple(replace(part, sql=cut(part.sql)) for part in query_plan.choices)
    assert count, (pattern, [part.sql for part in query_plan.statements])
    return replace(query_plan, blocks=blocks, choices=choices)


@pytest.fixture(scope="module")
def engines(size):
    count = size(small=300, full=10_000, what="neighbouring tables an aggregate and relation")
    opened = {}
    for relation in ("add-remove", "replace"):
        for person in (True, False):
            # The others stay within their limits: which of their rows a hash picks would
            # differ with the number of the side.
            table = pairs(
                count, relation=relation, person=person, seed=[count, person], others=MAX_ROWS
            )
            opened[relation, person] = DuckDB.open({"data": table})
    yield count, opened
    for engine in opened.values():
        engine.close()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("whose", ["person", "row"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_unit_is_more_steps_than_declared(engines, aggregate, whose, relation):
    person = whose == "person"
    count, opened = engines
    reached = []
    for key, where in SHAPES:
        probe = Probe(
            AGGREGATES[aggregate], key, where, count=count, relation=relation, person=person
        )
        for steps, most in probe.excess(opened[relation, person]):
            assert steps <= most, (key, where, steps, most)
            reached.append(steps / most)
    # Not padded either: somewhere somebody comes near to what was declared.
    assert max(reached) >= 0.5


MUTANTS = {
    "no limit of rows": (r"\bplace <= \d+", "TRUE"),
    "one row too many": (r"\bplace <= 3", "place <= 4"),
    "no limit of groups": (r"group_place <= \d+", "TRUE"),
    "one group too many": (r"group_place <= 2", "group_place <= 3"),
}
CAUGHT = [
    (mutant, aggregate)
    for mutant in MUTANTS
    for aggregate in ("median", "mode", "distinct numbers", "distinct sum")
]


def hoarders(relation, schema):
    """A pair whose unit holds eight values in each of three wards, the other side's others."""
    rows = []
    for side in (0, 1) if relation == "replace" else (0,):
        rows += [
            dict.fromkeys(schema.names)
            | {"pair": side, "unit": side, "ward": "ABCDEF"[3 * side + i % 3], "x": 88 + i / 2}
            for i in range(24)
        ]
    return pa.Table.from_pylist(rows, schema=schema)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(("mutant", "aggregate"), CAUGHT)
def test_with_a_limit_removed_it_fails(mutant, aggregate, relation):
    count = 400
    table = pairs(count, relation=relation, person=True, seed=7, wild=False, others=MAX_ROWS)
    if aggregate.startswith("distinct"):
        table = hoarders(relation, table.schema)
    probe = Probe(
        AGGREGATES[aggregate], "ward", "", count=count, relation=relation, person=True
    )
    with DuckDB.open({"data": table}) as engine:
        assert all(steps <= most for steps, most in probe.excess(engine))
        assert any(steps > most for steps, most in probe.excess(engine, MUTANTS[mutant]))


CLIPS = {
    "of the column": (
        r"CASE WHEN (TRY_CAST\(\"x\" AS DOUBLE\)) > CAST\([^()]*\) THEN CAST\([^()]*\) "
        r"WHEN \1 < CAST\([^()]*\) THEN CAST\([^()]*\) ELSE \1 END",
        r"\1",
    ),
    "of its integer": (
        r"CASE WHEN (x0) > \S+ THEN \S+ WHEN \1 < \S+ THEN \S+ ELSE \1 END",
        r"\1",
    ),
}


def test_without_its_clips_there_are_cells_beyond_the_grid():
    """Each of the two clips keeps the cells on the grid by itself."""
    probe = Probe("MEDIAN(x)", "", "", count=50, relation="add-remove", person=False)
    table = pairs(50, relation="add-remove", person=False, seed=3, wild=False)
    ways = [changed(probe.plan, *clip) for clip in CLIPS.values()]
    neither = changed(ways[0], *CLIPS["of its integer"])
    size = probe.plan.choices[0].mechanism.grid.size
    with DuckDB.open({"data": table}) as engine:
        for query_plan in (probe.plan, *ways, neither):
            (cells,) = engine.run(query_plan).reveal_to(lambda exact: exact).cells.values()
            inside = bool(np.all((cells.cell >= 0) & (cells.cell < size)))
            assert inside is (query_plan is not neither)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_one_pair_at_a_time_with_units_beyond_their_limits(size, relation):
    """The same salt on both sides, and everybody may exceed every limit, NULL units too."""
    tables = size(small=3, full=150, what="single pairs of tables")
    draw = np.random.default_rng(13)
    known = policy(1, relation=relation, person=True)
    plans = [
        plan(parse(f"SELECT {AGGREGATES[name]} FROM data GROUP BY {key}"), known, epsilon=1)
        for name in ("median", "mode", "distinct numbers", "distinct texts", "distinct sum")
        for key in ("ward", "code")
    ]
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
        answers = []
        for rows in (crowd, rest + other):
            with DuckDB.open({"data": pa.Table.from_pylist(rows, schema=schema)}) as engine:
                engine._salt = 2**62 + 12345
                answers.append([engine.run(each).reveal_to(_counted) for each in plans])
        for query_plan, first, two in zip(plans, *answers, strict=True):
            part = query_plan.choices[0] if query_plan.choices else query_plan.blocks[0]
            group, cell = (
                np.concatenate(both) for both in zip(first[:2], two[:2], strict=True)
            )
            signed = np.concatenate([first[2], -two[2]])
            moved = Moved.of(np.zeros_like(group), group, cell, signed)
            assert distance(part, moved, 1)[0] <= most_steps(part, query_plan)


def _counted(exact):
    """The group, cell and count of each row, groups numbered alike for all tables."""
    (cells,) = exact.cells.values()
    names = [*WARDS, *CODES]
    groups = [names.index(key) for key in cells.keys[0].to_pylist()]
    return np.array(groups, dtype=np.int64), cells.cell, cells.count


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_unit_with_ten_thousand_values_that_others_hold_too(relation):
    """One unit holds ten thousand values; a thousand others hold ten of these each, two of
    which nobody else has. Its own values count three at most, and theirs stay counted."""
    hoard = [(-1, value) for value in range(10_000)]
    shared = [(u, value) for u in range(1000) for value in range(3 * u, 3 * u + 3)]
    sides = [hoard + shared, shared]
    if relation == "replace":
        sides[1] = [(-1, value) for value in range(50_000, 60_000)] + shared
    known = policy(1, relation=relation, person=True)
    narrow = plan(parse("SELECT COUNT(DISTINCT x) FROM data"), known, epsilon=1)
    wide = plan(parse("SELECT COUNT(DISTINCT pair) FROM data"), known, epsilon=1)
    assert narrow.blocks[0].mechanism.sensitivity == MAX_ROWS
    totals = []
    for rows in sides:
        unit, value = (pa.array(column) for column in zip(*rows, strict=True))
        count = len(unit)
        empty = {name: pa.nulls(count, pa.string()) for name in ("ward", "code")}
        table = pa.table(
            {"pair": value, "unit": unit, **empty, "x": value.cast(pa.float64()) / 600}
            | {"y": pa.nulls(count, pa.float64()), "flag": pa.nulls(count, pa.bool_())}
        )
        with DuckDB.open({"data": table}) as engine:
            for query_plan in (narrow, wide):
                (cells,) = engine.run(query_plan).reveal_to(lambda exact: exact).cells.values()
                totals.append(int(cells.count.sum()))
    for first, two in zip(totals[:2], totals[2:], strict=True):
        assert abs(first - two) <= MAX_ROWS
    assert totals[3] in range(3000, 3000 + MAX_ROWS + 1)  # others lose nothing
    assert MAX_GROUPS == 2
