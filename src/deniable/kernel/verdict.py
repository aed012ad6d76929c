"""The verdict on a plan: what its statements and its noise really cost, against its claims.

The outermost SELECT of a statement is the only place where rows of several units meet. It
returns one row per group, with keys and sums, or the counts of cells.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.derivation import Derivation
from deniable.kernel.facts import Facts, folded
from deniable.kernel.polynomials import Joint, RowSum, joint
from deniable.kernel.reading import Node, conditions, match, only, read_statement, require
from deniable.kernel.relations import Relation
from deniable.kernel.sources import PartRule, group_names, outputs
from deniable.kernel.values import UNSURE, Form, Names, Value
from deniable.privacy import ApproximateLoss, GaussianLoss, Loss, PureLoss
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.plan import Block, Choice, Distances, Plan

_ROW, _ONE = Joint(1, 0, 1), RowSum.constant(1)  # what a row adds to a count
Limits = tuple[int, int]  # the groups of one unit, and its rows in each
_LAST = ("expressions", "from_", "where", "group", "having", "with_")


class LastSelect(NamedTuple):
    """The columns of the answer, and the rows that were added up to it."""

    columns: Mapping[str, Value]
    made: Mapping[str, Node]  # the expression of each column
    rows: Relation
    keys: Names  # the columns of GROUP BY

    def sources(self, names: Iterable[str]) -> Names:
        """The columns of GROUP BY that some columns of the answer are."""
        parts = [require(self.made.get(name), "A key is missing.") for name in names]
        return frozenset(self.rows.name(part) for part in parts)

    def is_derived(self, name: str) -> bool:
        """Whether a column is a key, or computed from keys."""
        return self.made[name].find(exp.AggFunc) is None

    def counts_values(self, name: str) -> bool:
        """Whether a column is the number of different values."""
        return bool(match(self.made[name], "COUNT(DISTINCT x)"))

    def form(self, name: str) -> RowSum:
        """The sum over rows that a column is."""
        return require(self.columns[name].form, "A feature is not a sum over rows.").rows

    def reach(self, names: tuple[str, ...]) -> Joint:
        """How far one row moves several sums together. Columns that were cut by the same count
        are bounded together, by what the rows below them can do."""
        features = [self.form(name) for name in names]
        shares = [form for form in map(self._share, features) if form is not None]
        if len(shares) == len(names) and len({(s.group, s.cut) for s in shares}) == 1:
            return joint(share.rows for share in shares).times(shares[0].cut)
        return joint(features)

    def _share(self, feature: RowSum) -> Form | None:
        """The share that a plain sum of one column adds up; None for other features."""
        value = self.rows.columns.get(min(feature.boxes, default=""))
        if value is None or value.polynomial is None or value.form is None:
            return None
        plain = feature == value.polynomial.present(feature.boxes)
        return value.form if plain and value.form.cut else None


def answer_of(node: Node, statement: Derivation) -> LastSelect:
    """Adds up the rows of each group. HAVING may leave out groups whose keys are not declared.

    Proof. Rows belong to known units. One unit adds to the sums of a group what its own rows
    there add, and these are the only rows that change when the unit does. Which groups are left
    out depends on their keys alone, so it is the same for all tables.
    """
    if not isinstance(node, exp.Select):
        raise PlanRefused("The statement is not a SELECT.")
    rows = statement.filtered(only(node, *_LAST), {})
    known = rows.owner is not None and rows.known
    require(known, "The answer is not about rows of known units.")
    keys = group_names(node, rows)
    numbered = rows.numbered and keys & rows.units
    require(not numbered, "The answer has row numbers for keys.")
    groups = Relation({name: rows.columns[name] for name in keys}, None, 1)
    for condition in conditions(node.args.get("having")):
        statement.among(groups, condition, {})
    columns = statement.summed(node, rows, keys).columns
    sure = all(value.zeros != UNSURE for value in columns.values())
    require(sure, "A key may be 0 with either sign.")
    return LastSelect(columns, outputs(node, rows), rows, keys)


def movement(
    reach: Joint,
    size: int,
    limits: tuple[int, int],
    neighbors: Neighbors,
    *,
    keyed: bool,
    whole: int | None = None,
) -> tuple[int, int]:
    """L1 and the square of L2 of what one unit moves, with (groups, rows in each) as limits,
    where one row adds what `reach` says to the `size` sums of its group.

    Proof. A unit adds a vector v to each of its groups, |v|1 <= m = rows * total, and |v|2 is
    at most |v|1. If it vanishes, at most `groups` vectors vanish. If it is replaced, old ones
    leave and new ones w come. In groups that have only one of them they count singly, and there
    are at most 2 * groups of these. In a group that has both, |v - w|1 <= 2 m; and the square
    of |v - w|2 is at most that of |v|2 plus that of |w|2 if no sum is negative, because then v
    and w have no obtuse angle, and else (2 m)**2. A single sum moves by the width of its range,
    with 0 in it, if both are in one group.
    With `whole` rows of a unit in all groups together, the sum of all |v|1 is at most
    s = whole * total. So the sum of their squares is at most m * s; that of the w, too.
    """
    groups, most = limits[0], limits[1] * ceil(reach.total)
    if whole is not None and reach.low >= 0 and whole < groups * limits[1]:
        sum_, times = whole * ceil(reach.total), 1 if neighbors == "add-remove" else 2
        return times * sum_, times * sum_ * min(most, sum_)
    if neighbors == "add-remove":
        return groups * most, groups * most**2
    if size > 1:
        return 2 * groups * most, (2 if reach.low >= 0 else 4) * groups * most**2
    span = limits[1] * ceil(max(reach.high, 0) - min(reach.low, 0))
    if not keyed:
        return span, span**2
    return 2 * groups * most, groups * max(span**2, 2 * most**2)


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
    require(fits, f"The plan costs {total!r}, which is more than it charges.")
    return KernelVerdict(parts, total, tuple(check.part.readings.items()) if check.part else ())


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
        plan = self.plan
        for name in plan.tables:
            table = require(self.facts.find(name), "The plan is about an unknown table.")
            private = not table.public and table.neighbors == plan.neighbors
            require(private, "The plan is about a table that is not private as it says.")
            same = folded(table.unit or "") == folded(plan.unit or "")
            require(same, "The plan protects another unit than its table.")
            self.part = PartRule(table, plan.part) if plan.part else None
        alone = not (plan.part and plan.beside)
        require(alone, "A plan about a part of a table reads another private table.")
        hidden = plan.thresholding or all(key.values is not None for key in plan.keys)
        require(hidden, "Private keys are shown without a threshold.")
        statements = [statement.name for statement in plan.statements]
        features = [feature for block in plan.blocks for feature in block.features]
        own = all(len(set(names)) == len(names) for names in (statements, features))
        require(own, "Two statements or features of the plan have the same name.")
        shared = [block for block in plan.blocks if not block.sql]
        counted = [block for block in plan.blocks if block.sql]
        paid = bool(plan.engine_sql) == bool(shared or plan.thresholding)
        require(paid, "The plan has statements that nothing pays for.")
        found = self._groups(shared) if plan.engine_sql else []
        found += [self._block(block, _ROW, self._cells(block.sql)) for block in counted]
        found += [] if plan.distances is None else [self._distances(plan.distances)]
        return (*found, *(self._chosen(choice) for choice in plan.choices))

    def _read(self, sql: str) -> tuple[LastSelect, Limits]:
        """The answer of a statement, the groups of one unit, and its rows in each."""
        sizes = tuple(None if key.values is None else len(key.values) for key in self.plan.keys)
        statement = Derivation(self.facts, sizes, self.part)
        answer = answer_of(read_statement(sql), statement)
        keys, owner = answer.sources(self.names), answer.rows.owner
        charged = statement.read <= {folded(name) for name in self.plan.tables}
        require(charged, "A statement reads a private table that is not charged.")
        alike = owner is not None and owner.neighbors == self.plan.neighbors
        require(alike, "The statement has other neighbours than the plan.")
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
        keys = answer.sources(self.names)
        same = list(answer.columns) == [*self.names, *shown, *features] and keys == answer.keys
        require(same, "The statement has other columns or groups than the plan.")
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
        loss: Loss | None = None
        if kind == "Laplace" and l1 <= declared:
            loss = PureLoss(max(1, l1) * mechanism.epsilon / declared)
        if kind == "Gaussian" and square <= declared**2:
            loss = GaussianLoss(mu_squared=max(1, square) / mechanism.variance)
        moved = f"One unit moves {block.about} by {l1} (L1)"
        cost = require(loss, f"{moved}, and the plan declares {declared}.")
        plain = mechanism.step == 1 and getattr(mechanism, "odds", None) is None
        require(plain, "The noise of a block has no rule.")
        return Moved(block.about, l1, square, declared, cost)

    def _shown(self, answer: LastSelect, groups: int, rows: int) -> Moved:
        """The threshold counts units: one row of a unit in each group, and each counts 1."""
        rule = require(self.plan.thresholding, "There is no threshold.")
        once = answer.form("units") == _ONE and rows == 1 and _kind(rule) == "Thresholding"
        require(once, "`units` does not count each unit once in a group.")
        fits = rule.groups >= groups and rule.neighbors == self.plan.neighbors
        require(fits, "The threshold is made for fewer groups of a unit.")
        loss = ApproximateLoss(rule.epsilon, rule.delta)
        return Moved("units", groups, groups, Fraction(rule.groups), loss)

    def _cells(self, sql: str) -> Limits:
        """A statement of cells: keys, the cell of a row, and how many rows have it. A row adds
        1 to one cell. Different values: a unit brings at most as many to a group as it has rows
        there, whatever values the others have."""
        answer, limits = self._read(sql)
        keys = answer.sources(self.names)
        cells = list(answer.columns) == [*self.names, "cell", "n"] and answer.is_derived("cell")
        require(cells, "A statement of cells has other columns.")
        counts = answer.counts_values("n") and keys == answer.keys
        counts = counts or (keys <= answer.keys and answer.form("n") == _ONE)
        require(counts, "A statement of cells does not count rows or values.")
        return limits

    def _distances(self, distances: Distances) -> Moved:
        """Sums over cells of |scale * count - public integer|. A row moves one cell by `scale`,
        and a sum of absolute values moves by no more than its terms together. So one unit moves
        each distance by `scale` times its rows; replaced, by twice that. The mechanism chooses
        by the size of one distance, once for each name, or adds noise to all of them."""
        limits = [self._cells(table.sql) for table in distances.tables]
        whole = type(distances.scale) is int and 1 <= distances.scale <= 1 << 20
        require(whole and not self.plan.keys, "Distances have no groups, and whole scales.")
        for table in distances.tables:
            fits = all(type(cell) is int and abs(cell) <= 1 << 62 for cell in table.model)
            inside = all(place in range(len(table.model)) for place in table.places)
            require(fits and inside, "A model has cells of other kinds, or too few.")
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
        told = f"One unit moves each of {distances.about} by {step}"
        require(square <= declared**2, f"{told}, and the plan declares {declared}.")
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
            private = not swaps or (replaced and mechanism.method == "independent")
            require(private, "Quantiles that take the number of rows for public.")
            once, steps, rounds = not keyed and swaps, rows, 1
        elif _kind(mechanism) == "PermuteAndFlip" and mechanism.step is None:
            once, rounds = not keyed and not mechanism.monotone, len(choice.names)
            steps = ceil(rows / mechanism.sensitivity)
        else:
            raise PlanRefused("The choice has no rule.")
        steps *= groups * (2 if replaced and not once else 1)
        within = steps <= choice.changes
        require(within, f"One unit is {steps} steps; the plan counts {choice.changes}.")
        loss = (mechanism.loss * rounds).group(steps)
        return Moved(choice.about, steps, steps, Fraction(choice.changes), loss)


def _kind(mechanism: object) -> str:
    """The class of a mechanism, which must be one of our own."""
    own = type(mechanism).__module__.startswith("deniable.mechanisms.")
    return type(mechanism).__name__ if own else ""
