"""Marginals over the same limited rows: no unit moves one further than the plan says."""

import random
from fractions import Fraction
from itertools import islice, product
from math import sqrt

import pyarrow as pa
import pytest

import deniable as dp
from deniable.mechanisms import Gaussian
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.query.statements.statistics import root_up
from deniable.release.answer.distances import measure_distance
from deniable.synth.domain.column_cells import cells_of
from tests.engines.neighbors import SALT, excess, told

MOST = 3  # rows of one unit
SCALE = 16
PAIRS = [(0, 1), (0, 2), (1, 2)]
MARGINALS = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
PRICE = {"mu_squared": Fraction(1), "delta": Fraction(1, 10**7), "confidence": 0.95}
DECLARED = {
    "keys": {"ward": ["A", "B", "C"], "code": [1, 2, 3]},
    "bounds": {"age": (0, 100)},
    "kind": {"code": "integer"},
}
SCHEMA = pa.schema([("unit", "int64"), ("ward", "str"), ("code", "int64"), ("age", "float64")])


def planner(session, missing):
    table = session.policy.tables["data"]
    cells = [
        cells_of(table, name, cuts=[20, 50] if name == "age" else None, missing=missing)
        for name in ("ward", "code", "age")
    ]
    counted = [cell.counted for cell in cells]
    return MarginalPlanner(session.policy, table, counted, partial=not missing)


def rows_of(unit, dice, most):
    """Rows of one unit; many of them are alike, so that they meet in one cell."""
    some = [
        (dice.choice("ABCX"), dice.choice([1, 2, 3, 9, None]), dice.choice([5.0, 35.0, 1e9]))
        for _ in range(2)
    ]
    count = dice.choice([0, 1, 2, most])
    return [(unit, *dice.choice([*some, (None, 2, None)])) for _ in range(count)]


class World:
    """A crowd, and some people who may each be in one of several ways: every combination is a
    table, and those that differ in one person are neighbours. In the worst, all rows of a
    person are alike."""

    def __init__(self, dice, *, person, neighbors, alike):
        self.dice, most = dice, 9 if person else 1
        self.crowd = [row for unit in range(6) for row in rows_of(unit, dice, 5)]
        people, ways = (5, 2) if neighbors == "add-remove" else (2, 4)
        some = [
            [(rows_of(90 + i, dice, 9) or [(90 + i, "C", 3, 5.0)])[:most] for _ in range(ways)]
            for i in range(people)
        ]
        if alike:
            some[-1][:2] = [(99, "A", 1, 5.0)] * most, [(99, "B", 2, 35.0)] * most
        if neighbors == "add-remove":
            some = [[own, []] for own, _ in some]
        self.ways = some

    def pairs(self):
        """All pairs of neighbours, by the way in which each person is in their tables."""
        tables = list(product(*(range(len(way)) for way in self.ways)))
        for i, left in enumerate(tables):
            for right in tables[i + 1 :]:
                if sum(a != b for a, b in zip(left, right, strict=True)) == 1:
                    yield left, right

    def frame(self, chosen):
        """The table of one combination, its rows in random order."""
        some = [row for own, way in zip(self.ways, chosen, strict=True) for row in own[way]]
        rows = [*self.crowd, *some]
        self.dice.shuffle(rows)
        columns = list(zip(*rows, strict=True)) if rows else [[]] * 4
        return pa.table([pa.array(list(c)) for c in columns], schema=SCHEMA)


def worlds(dice, pairs, **options):
    """This many pairs of neighbours, each with the world that it is from."""
    count, alike = 0, True
    while count < pairs:
        world, alike = World(dice, **options, alike=alike), False
        for pair in islice(world.pairs(), pairs - count):
            count += 1
            yield world, pair


def counted(frame, plans, options):
    with dp.protect(frame, name="data", epsilon=1, delta=1e-6, **options) as session:
        session._engine._salt = SALT
        engine = session._engine
        *tables, joint = [engine.run(engine.prepare(plan)) for plan in plans]
        return [
            *(table.reveal_to(told) for table in tables),
            joint.reveal_to(lambda own: own.joint),
        ]


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_no_unit_moves_a_marginal_further_than_declared(size, neighbors, person, missing):
    pairs = size(small=2, full=1250, what="pairs of neighbouring tables")
    dice = random.Random(f"{neighbors} {person} {missing}")
    limits = {"unit": "unit", "max_rows_per_unit_per_group": MOST} if person else {}
    options = {**DECLARED, **limits, "neighbors": neighbors}
    empty = SCHEMA.empty_table()
    merged = (0, 2), {0: (0, 1, 1, 1)[: 3 + missing]}
    with dp.protect(empty, name="data", epsilon=1, delta=1e-6, **options) as session:
        plans = [
            planner(session, missing).plan(places, **PRICE, merged=new)
            for places, new in [*((marginal, {}) for marginal in MARGINALS), merged]
        ]
        far = far_plans(planner(session, missing))
        plans.append(far[0])
    farthest, scored = 0, [0] * len(far)
    known, counts = None, {}  # what was counted in the tables of one world
    for world, pair in worlds(dice, pairs, person=person, neighbors=neighbors):
        if world is not known:
            known, counts = world, {}
        for chosen in pair:
            if chosen not in counts:
                counts[chosen] = counted(world.frame(chosen), plans, options)
                check_sums(counts[chosen][:-1])
        left, right = (counts[chosen] for chosen in pair)
        scored = [max(*own) for own in zip(scored, moved_scores(far, left, right), strict=True)]
        for plan, a, b in zip(plans[:-1], left, right, strict=False):
            assert not excess(plan, a, b)
            moved = {place: a[0].get(place, 0) - b[0].get(place, 0) for place in {*a[0], *b[0]}}
            farthest = max(farthest, sum(by**2 for by in moved.values()))
    most = MOST if person else 1
    reached = {"add-remove": most**2, "replace": 2 * most**2}[neighbors]
    assert farthest == reached  # the bound is tight, so noise for less would be caught
    step = {"add-remove": 1, "replace": 2}[neighbors] * most * SCALE
    whole = root_up(step**2 * len(PAIRS))
    assert [plan.distances.mechanism.sensitivity for plan in far] == [step, 7 * step, whole]
    assert all(
        own <= plan.distances.mechanism.sensitivity
        for own, plan in zip(scored, far, strict=True)
    )
    assert scored[0] == step  # tight, too
    assert scored[2] ** 2 > 0.99 * whole**2


def far_plans(marginals):
    """Distances of all pairs, for a choice: from models with too many rows where the first
    column has its first value, and none elsewhere; and over merged cells, weighted, less a
    bias. The first once more, for a scorecard."""
    cells = {pair: marginals.count_cells(pair) for pair in PAIRS}
    first = {(a, b): marginals.count_cells((b,)) for a, b in PAIRS}
    plain = [
        marginals.distance(
            pair, [10**9] * first[pair] + [0] * (cells[pair] - first[pair]), ends=pair
        )
        for pair in PAIRS
    ]
    merged = [
        marginals.distance(
            *(pair, [3 * SCALE, 11]),
            ends=pair,
            places=[cell % 2 for cell in range(cells[pair])],
            weight=weight,
            bias=bias,
        )
        for pair, weight, bias in zip(PAIRS, (1, 7, 2), (0, 99, 5), strict=True)
    ]
    price = {"scale": SCALE, "confidence": PRICE["confidence"]}
    return [
        marginals.plan_choice(plain, **price, epsilon=Fraction(1)),
        marginals.plan_choice(merged, **price, epsilon=Fraction(1)),
        marginals.plan_distances(plain, scale=SCALE, **PRICE),
    ]


def moved_scores(plans, left, right):
    """How far each plan's distances moved: the farthest of a choice, all of a scorecard."""
    moved = []
    for plan in plans:
        apart = [
            abs(a - b) for a, b in zip(scores(plan, left), scores(plan, right), strict=True)
        ]
        vector = isinstance(plan.distances.mechanism, Gaussian)
        moved.append(sqrt(sum(by**2 for by in apart)) if vector else max(apart))
    return moved


def scores(plan, counts):
    """The distances of one side, and that the joint cells are those of the last marginal."""
    marginals, joint = counts[:-1], counts[-1]
    assert sorted(joint.count.tolist()) == sorted(marginals[len(MARGINALS) - 1][0].values())
    return [measure_distance(table, plan.distances, joint) for table in plan.distances.tables]


def check_sums(tables):
    """All marginals count the same rows: the smaller ones are sums of the largest."""
    whole = {keys: n for (keys, _), n in tables[len(MARGINALS) - 1][0].items()}
    assert sum(tables[-1][0].values()) == sum(whole.values())  # merged cells
    for places, (groups, _) in zip(MARGINALS, tables, strict=False):
        sums = {}
        for keys, n in whole.items():
            own = tuple(keys[place] for place in places)
            sums[own] = sums.get(own, 0) + n
        assert sums == {keys: n for (keys, _), n in groups.items()}
