"""The neighbour fuzzer: random plans on random neighbouring tables, on a live engine.

No integer moves further than its plan declares, the integers are DuckDB's where no limit bites,
and no statement fails: neither on one side only, which would tell the sides apart, nor on both,
which would charge everybody for nothing.
"""

import contextlib
import math
from collections import Counter, defaultdict
from unittest import mock

import pyarrow as pa

from deniable.engines.duckdb.engine import DuckDB
from deniable.errors import DeniableError, EngineFailed, Unsupported
from deniable.mechanisms import Gaussian, QuantileIntervals, Quantiles
from deniable.policy import Policy, Table
from deniable.query.language.parse import parse
from deniable.query.planner.planner import plan
from deniable.query.relations import joins
from tests.engines.questions import Questions

PLANS = 40  # of one world
JOINED = 25  # rows of one unit before a join, where its limits are small
SALT = 2**62 + 12345


def told(exact):
    """Integers by group and name; cells by statement, group and cell."""
    keys = list(zip(*(column.to_pylist() for column in exact.keys), strict=True))
    columns = dict(exact.features) | ({} if exact.units is None else {"units": exact.units})
    groups = {
        (keys[i] if keys else (), name): int(value)
        for name, values in columns.items()
        for i, value in enumerate(values)
    }
    cells = {}
    for name, counts in exact.cells.items():
        key_rows = list(zip(*(column.to_pylist() for column in counts.keys), strict=True))
        key_rows = key_rows or [()] * len(counts.cell)
        places = zip(key_rows, counts.cell.tolist(), counts.count.tolist(), strict=True)
        cells[name] = {(group, cell): count for group, cell, count in places if count}
    return {place: value for place, value in groups.items() if value}, cells


def apart(left, right):
    """By how much numbers differ, where they do."""
    moved = {place: left.get(place, 0) - right.get(place, 0) for place in {*left, *right}}
    return {place: by for place, by in moved.items() if by}


def excess(query_plan, left, right):
    """What moved further than the plan declares: name, distance and bound."""
    (groups, cells), moved = zip(left, right, strict=True), {}
    steps = apart(*groups)
    for block in query_plan.blocks:
        own = (
            apart(*(side[block.features[0]] for side in cells))
            if block.sql
            else {place: by for place, by in steps.items() if place[1] in block.features}
        )
        power = 2 if isinstance(block.mechanism, Gaussian) else 1
        far = sum(abs(by) ** power for by in own.values())
        moved[block.about] = far, block.mechanism.sensitivity**power
    units = [abs(by) for (_, name), by in steps.items() if name == "units"]
    turns = 2 if query_plan.neighbors == "replace" else 1
    moved["units"] = sum(units), query_plan.max_groups_per_unit * turns
    moved["units of a group"] = max(units, default=0), 1
    for choice in query_plan.choices:
        own = apart(*(side[choice.name] for side in cells))
        moved[choice.about] = choice_steps(choice, own), choice.changes
    return {name: pair for name, pair in moved.items() if pair[0] > pair[1]}


def choice_steps(choice, moved):
    """How many steps of a choice's mechanism these counts are apart."""
    added = sum(by for by in moved.values() if by > 0)
    removed = -sum(by for by in moved.values() if by < 0)
    if isinstance(choice.mechanism, Quantiles | QuantileIntervals):
        alone = choice.mechanism.neighbors == "replace"
        return max(added, removed) if alone else added + removed
    most = defaultdict(lambda: [0, 0])
    for (group, _), by in moved.items():
        most[group][by < 0] = max(most[group][by < 0], abs(by))
    steps = [
        [math.ceil(end / choice.mechanism.sensitivity) for end in ends]
        for ends in most.values()
    ]
    return sum(sum(step) if choice.mechanism.monotone else max(step) for step in steps)


def write(engine, query_plan):
    """The plan in the engine's text. None if it cannot run it: it says so before the charge."""
    try:
        return engine.prepare(query_plan)
    except Unsupported:
        return None


def run(engine, query_plan):
    """What the engine finds, or its error without the reference number."""
    try:
        return engine.run(query_plan).reveal_to(told)
    except EngineFailed as failed:
        return str(failed).replace(failed.reference, "...")


class Fuzz:
    """Runs random plans on both sides of random worlds, and keeps what is wrong.

    Where each row is a unit, a join makes several rows of one, and limits bite. `before_plan`
    gets the number of each plan, and may change how the engine runs it; `run_sides` may be a
    `map` that runs both sides at once.
    """

    def __init__(self, opened, seed, *, before_plan=lambda number: None, run_sides=map):
        self.opened, self.questions = opened, Questions(seed)
        self.before_plan, self.run_sides = before_plan, run_sides
        self.wrong, self.counts = [], Counter()

    def run(self, count):
        """Runs this many plans. Every tenth world has a unit with very many rows."""
        number = 0
        while self.counts["run"] < count:
            number += 1
            world = self.questions.world(many=number % 10 == 0)
            with contextlib.ExitStack() as stack:
                stack.enter_context(mock.patch.object(joins, "_LEAST", JOINED))
                engines = [stack.enter_context(self.opened(side)) for side in world.sides]
                known = [stack.enter_context(DuckDB.open(side)) for side in world.sides]
                for engine in (*engines, *known):
                    engine._salt = SALT
                for _ in range(min(PLANS, count - self.counts["run"])):
                    self._ask(world, engines, known)
        assert not self.wrong, (len(self.wrong), self.wrong[:5], self.counts)

    def _ask(self, world, engines, known):
        query_plan = None
        while query_plan is None:
            sql, curved = self.questions.question(world.person)
            delta = self.questions.pick([0, 1e-3])
            with contextlib.suppress(DeniableError):
                query_plan = plan(parse(sql), world.policy, epsilon=1000, delta=delta)
            self.counts["refused"] += query_plan is None
        texts = [write(engine, query_plan) for engine in engines]
        if None in texts:
            assert texts == [None, None]
            self.counts["unsupported"] += 1
            return
        self.before_plan(self.counts["run"])
        self.counts["run"] += 1
        left, right = self.run_sides(run, engines, texts)
        if isinstance(left, str) or isinstance(right, str):
            self.wrong.append(("failed", sql, query_plan, left, right))
        elif far := excess(query_plan, left, right):
            self.wrong.append(("moved", sql, query_plan, far))
        elif world.roomy and not curved and "numbered" not in repr(query_plan.statements):
            self.counts["compared"] += 1
            same = [run(engine, query_plan) for engine in known]
            if same != [left, right]:
                self.wrong.append(("differs", sql, query_plan, left, same[0]))


# Functions of x that might see the sign of a zero or of a NaN.
OF_SIGNS = ["POWER({0}, -1)", "POWER({0}, -3)", "POWER({0}, 0.5)", "SQRT({0})", "1 / {0}"]
OF_SIGNS += ["SIGN({0})", "TRUNC({0})", "ROUND({0})", "ROUND({0}, 1)", "{0} % 3", "3 % {0}"]
OF_SIGNS += [
    "SIN({0})",
    "COS({0})",
    "EXP({0})",
    "-{0}",
    "{0} * -1",
    "LEAST({0}, 0)",
    "{0} // 2",
]
OF_SIGNS += ["CAST({0} AS INTEGER)", "FLOOR({0})", "CEIL({0})", "GREATEST(0, {0})", "LN({0})"]


class NeighborContract:
    """Inherit beside a class that says how its engine is opened."""

    small, full, most_signs = 3, 2_000, Questions.most_signs

    def test_no_engine_sees_the_sign_of_zero_or_of_nan(self):
        """Nor does a hash, though DISTINCT keeps either zero, by the order of rows."""
        seen = " OR ".join(
            f"{each.format('x')} IS DISTINCT FROM {each.format('ABS(x)')}" for each in OF_SIGNS
        )
        people, answers, plans = range(1, 151), [], []
        for selected in (
            f"COUNT(*) AS n FROM data WHERE {seen}",
            "COUNT(DISTINCT x) FROM data",
        ):
            data = Table.declare("data", unit="id").with_schema({"id": "BIGINT", "x": "DOUBLE"})
            known = Policy([data], epsilon=10**4, delta=0.1)
            plans.append(plan(parse(f"SELECT {selected}"), known, epsilon=1000))
        for zeros in ([0.0, -0.0], [-0.0, 0.0]):
            values = [
                (each, value) for each in people for value in (*zeros, each + 0.5, each + 100.0)
            ]
            values += [(each, math.nan) for each in people] + [
                (each, -math.nan) for each in people
            ]
            ids, numbers = zip(*values, strict=True)
            with self.opened({"data": pa.table({"id": ids, "x": numbers})}) as engine:
                engine._salt = SALT
                answers.append([run(engine, each) for each in plans])
        assert answers[0] == answers[1]
        assert not any(answers[0][0][0].values())
        ((counted,),) = (each.values() for each in answers[0][1][1].values())
        assert counted < len(people)  # the limit bites, and some people keep their zero

    def fuzz(self):
        return Fuzz(self.opened, seed=14)

    def test_no_neighbour_is_further_than_declared_and_nothing_fails(self, size):
        count = size(small=self.small, full=self.full, what="random plans on neighbours")
        fuzz = self.fuzz()
        fuzz.questions.most_signs = self.most_signs
        fuzz.run(count)
        assert fuzz.counts["run"] == count
