"""The verdict on a plan: what its statements and its noise really cost, against its claims."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from deniable.errors import PlanRefused
from deniable.kernel.answers import LastSelect, answer_of, movement
from deniable.kernel.derivation import Derivation
from deniable.kernel.facts import Facts, folded
from deniable.kernel.polynomials import Joint, RowSum
from deniable.kernel.reading import read_statement
from deniable.kernel.sources import PartRule
from deniable.privacy import ApproximateLoss, GaussianLoss, Loss, PureLoss
from deniable.query.plan.plan import Block, Choice, Distances, Plan

_ROW = Joint(1, 0, 1)  # what a row adds to a count
Limits = tuple[int, int]  # the groups of one unit, and its rows in each


@dataclass(frozen=True, slots=True)
class Moved:
    """How far one unit moves a block, a choice or the numbers of units."""

    about: str
    l1: int  # for a choice: steps of its mechanism
    l2_squared: int
    declared: Fraction  # L1 or L2, or steps
    loss: Loss


@dataclass(frozen=True, slots=True)
class KernelVerdict:
    """What the kernel derived. It is made only for plans that declare no less."""

    parts: tuple[Moved, ...]
    loss: Loss
    readings: tuple[tuple[str, str], ...] = ()  # of a part: what tells the part of a row


def check_plan(plan: Plan, facts: Facts) -> KernelVerdict:
    """Derives what one unit can move and what that costs; refuses a plan that declares less."""
    try:
        check = _Check(plan, facts)
        parts = check.parts()
        total = sum((part.loss for part in parts[1:]), parts[0].loss)
        fits = total.fits(ApproximateLoss(plan.epsilon, plan.delta))
    except PlanRefused:
        raise
    except RecursionError:
        raise PlanRefused("The statement nests too deeply to be checked: split it.") from None
    except Exception as problem:  # a tree that no rule expects
        raise PlanRefused(f"The plan cannot be checked: {type(problem).__name__}.") from problem
    if not fits:
        raise PlanRefused(f"The plan costs {total!r}, which is more than it charges.")
    readings = () if check.part is None else tuple(check.part.readings.items())
    return KernelVerdict(parts, total, readings)


@dataclass(slots=True)
class _Check:
    """The check of one plan."""

    plan: Plan
    facts: Facts
    part: PartRule | None = None

    @property
    def names(self) -> list[str]:
        """The names of the keys in every statement."""
        return [f"k{i}" for i in range(len(self.plan.keys))]

    def parts(self) -> tuple[Moved, ...]:
        """The movement and the loss of every part that is paid for."""
        plan, tables = self.plan, [self.facts.find(name) for name in self.plan.tables]
        for table in tables:
            if table is None or table.public or table.neighbors != plan.neighbors:
                raise PlanRefused("The plan is about a table that is not private as it says.")
            if folded(table.unit or "") != folded(plan.unit or ""):
                raise PlanRefused("The plan protects another unit than its table.")
            self.part = PartRule(table, plan.part) if plan.part else None
        if plan.part and plan.beside:
            raise PlanRefused("A plan about a part of a table reads another private table.")
        if plan.thresholding is None and any(key.values is None for key in plan.keys):
            raise PlanRefused("Private keys are shown without a threshold.")
        shared = [block for block in plan.blocks if not block.sql]
        counted = [block for block in plan.blocks if block.sql]
        if bool(plan.engine_sql) != bool(shared or plan.thresholding):
            raise PlanRefused("The plan has statements that nothing pays for.")
        found = self._groups(shared) if plan.engine_sql else []
        found += [self._block(block, _ROW, self._cells(block.sql)) for block in counted]
        found += [] if plan.distances is None else [self._distances(plan.distances)]
        return (*found, *(self._chosen(choice) for choice in plan.choices))

    def _read(self, sql: str) -> tuple[LastSelect, Limits]:
        """The answer of a statement, the groups of one unit, and its rows in each."""
        sizes = tuple(None if key.values is None else len(key.values) for key in self.plan.keys)
        statement = Derivation(self.facts, sizes, self.part)
        answer = answer_of(read_statement(sql), statement)
        keys = [answer.source(name) or "" for name in self.names]
        owner = answer.rows.owner
        if not statement.read <= {folded(name) for name in self.plan.tables}:
            raise PlanRefused("A statement reads a private table that is not charged.")
        if "" in keys or owner is None or owner.neighbors != self.plan.neighbors:
            raise PlanRefused("The statement has other keys or neighbours than the plan.")
        groups = answer.rows.groups_per_unit(keys) if keys else 1
        rows = answer.rows.rows_per_group(keys)
        if groups is None or rows is None:
            raise PlanRefused("A unit may have any number of groups, or of rows in a group.")
        return answer, (groups, rows)

    def _groups(self, blocks: list[Block]) -> list[Moved]:
        """The groups' statement: its columns are the keys, `units` and the features, in the
        order of the blocks, and it has one row for each group."""
        answer, limits = self._read(self.plan.engine_sql)
        shown = ["units"] if self.plan.thresholding is not None else []
        features = [name for block in blocks for name in block.features]
        keys = {answer.source(name) for name in self.names}
        if list(answer.columns) != [*self.names, *shown, *features] or keys != answer.keys:
            raise PlanRefused("The statement has other columns or groups than the plan.")
        whole = answer.rows.rows_per_group([])
        found = [
            self._block(block, answer.reach(block.features), limits, whole) for block in blocks
        ]
        return [*found, *([self._shown(answer, *limits)] if shown else [])]

    def _block(
        self, block: Block, reach: Joint, limits: Limits, whole: int | None = None
    ) -> Moved:
        """The noise of one block, by definition: Laplace noise of scale b costs L1 / b, and
        Gaussian noise of variance s costs mu squared = L2 squared / s."""
        plan, size = self.plan, len(block.features)
        l1, square = movement(
            reach, size, limits, plan.neighbors, keyed=bool(plan.keys), whole=whole
        )
        if plan.other:  # a unit's groups may all be in the group of others, and add up
            square = l1**2
        mechanism: Any = block.mechanism
        kind, declared = _kind(mechanism), mechanism.sensitivity
        odds = getattr(mechanism, "odds", None)
        if kind not in ("Laplace", "Gaussian") or mechanism.step != 1 or odds is not None:
            raise PlanRefused("The noise of a block has no rule.")
        if (l1 > declared) if kind == "Laplace" else (square > declared**2):
            told = f"One unit moves {block.about} by {l1} (L1)"
            raise PlanRefused(f"{told}, and the plan declares {declared}.")
        loss: Loss = (
            PureLoss(max(1, l1) * mechanism.epsilon / declared)
            if kind == "Laplace"
            else GaussianLoss(mu_squared=max(1, square) / mechanism.variance)
        )
        return Moved(block.about, l1, square, declared, loss)

    def _shown(self, answer: LastSelect, groups: int, rows: int) -> Moved:
        """The threshold counts units: one row of a unit in each group, and each counts 1."""
        rule, form = self.plan.thresholding, answer.form("units")
        if _kind(rule) != "Thresholding" or form != RowSum.constant(1) or rows != 1:
            raise PlanRefused("`units` does not count each unit once in a group.")
        if rule is None or rule.groups < groups or rule.neighbors != self.plan.neighbors:
            raise PlanRefused("The threshold is made for fewer groups of a unit.")
        loss = ApproximateLoss(rule.epsilon, rule.delta)
        return Moved("units", groups, groups, Fraction(rule.groups), loss)

    def _cells(self, sql: str) -> Limits:
        """A statement of cells: keys, the cell of a row, and how many rows have it. A row adds
        1 to one cell. Different values: a unit brings at most as many to a group as it has rows
        there, whatever values the others have."""
        answer, limits = self._read(sql)
        keys = {answer.source(name) for name in self.names}
        if list(answer.columns) != [*self.names, "cell", "n"] or not answer.is_derived("cell"):
            raise PlanRefused("A statement of cells has other columns.")
        counts = keys <= answer.keys and answer.form("n") == RowSum.constant(1)
        if not counts and not (answer.counts_values("n") and keys == answer.keys):
            raise PlanRefused("A statement of cells does not count rows or values.")
        return limits

    def _distances(self, distances: Distances) -> Moved:
        """Sums over cells of |scale * count - public integer|. A row moves one cell by `scale`,
        and a sum of absolute values moves by no more than its terms together. So one unit moves
        each distance by `scale` times its rows; replaced, by twice that. The mechanism chooses
        by the size of one distance, once for each name, or adds noise to all of them."""
        limits = [self._cells(table.sql) for table in distances.tables]
        if self.plan.keys or type(distances.scale) is not int or distances.scale < 1:
            raise PlanRefused("Distances have no groups, and whole scales.")
        times = 1 if self.plan.neighbors == "add-remove" else 2
        step = times * distances.scale * max(rows for _, rows in limits)
        mechanism: Any = distances.mechanism
        kind, declared = _kind(mechanism), mechanism.sensitivity
        square = step**2 * (len(limits) if kind == "Gaussian" else 1)
        if kind == "Exponential" and not mechanism.monotone and mechanism.step is None:
            loss = mechanism.loss * len(distances.names)
        elif kind == "Gaussian" and mechanism.step == 1:
            loss = GaussianLoss(mu_squared=square / mechanism.variance)
        else:
            raise PlanRefused("The mechanism of distances has no rule.")
        if square > declared**2:
            told = f"One unit moves each of {distances.about} by {step}"
            raise PlanRefused(f"{told}, and the plan declares {declared}.")
        return Moved(distances.about, step, square, declared, loss)

    def _chosen(self, choice: Choice) -> Moved:
        """How many steps of its mechanism one unit is. A quantile's step is one row, a
        frequency's step moves counts by up to its sensitivity, all in one direction if it is
        monotone. A unit that is replaced takes its rows away and brings others."""
        groups, rows = self._cells(choice.sql)
        mechanism: Any = choice.mechanism
        replaced, keyed = self.plan.neighbors == "replace", bool(self.plan.keys)
        if _kind(mechanism) == "Quantiles":
            swaps = mechanism.neighbors == "replace"
            if swaps and not (replaced and mechanism.method == "independent"):
                raise PlanRefused("Quantiles that take the number of rows for public.")
            once, steps, rounds = not keyed and swaps, rows, 1
        elif _kind(mechanism) == "PermuteAndFlip" and mechanism.step is None:
            once, rounds = not keyed and not mechanism.monotone, len(choice.names)
            steps = ceil(rows / mechanism.sensitivity)
        else:
            raise PlanRefused("The choice has no rule.")
        steps *= groups * (2 if replaced and not once else 1)
        if choice.changes < steps:
            raise PlanRefused(f"One unit is {steps} steps; the plan counts {choice.changes}.")
        loss = (mechanism.loss * rounds).group(steps)
        return Moved(choice.about, steps, steps, Fraction(choice.changes), loss)


def _kind(mechanism: object) -> str:
    """The class of a mechanism, which must be one of our own."""
    own = type(mechanism).__module__.startswith("deniable.mechanisms.")
    return type(mechanism).__name__ if own else ""
