"""The verdict on a plan: what its statements and its noise really cost, against its claims.

The outermost SELECT of a statement is the only place where rows of several units meet. It
returns one row per group, with keys and sums, or the counts of cells.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod
from typing import Any, NamedTuple

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.derivation import Derivation
from deniable.kernel.facts import Facts, folded
from deniable.kernel.movements import movement, vector_movement
from deniable.kernel.polynomials import Joint, RowSum, Vectors, joint, vectors
from deniable.kernel.reading import Node, conditions, match, only, read_statement, require
from deniable.kernel.relations import Relation
from deniable.kernel.sources import PartRule, group_names, outputs
from deniable.kernel.values import UNSURE, Form, Names, Value
from deniable.privacy import ApproximateLoss, GaussianLoss, Loss, PureLoss
from deniable.query.plan.plan import Block, Choice, Distances, Plan

_ROW, _ONE = Joint(1, 0, 1), RowSum.constant(1)  # what a row adds to a count
Limits = tuple[int, int]  # the groups of one unit, and its rows in each
_KEYS = {"number": "int", "moment": "int", "boolean": "bool"}  # others are texts
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


def check_plan(plan: Plan, facts: Facts, *, withheld: bool = False) -> KernelVerdict:
    """Derives what one unit can move and what that costs; refuses a plan that declares less.

    With `withheld`, one key may be the unit itself, undeclared: no group is shown, and what a
    unit has in its groups is added up by a stream.
    """
    try:
        check = _Check(plan, facts, withheld)
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
    withheld: bool = False
    part: PartRule | None = None

    @property
    def names(self) -> list[str]:
        """The names of the keys in every statement."""
        return [f"k{i}" for i in range(len(self.plan.keys))]

    @property
    def private(self) -> list[str]:
        """The names of the keys whose values are not declared."""
        return [f"k{i}" for i, key in enumerate(self.plan.keys) if key.values is None]

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
        hidden = plan.thresholding or len(self.private) <= int(self.withheld)
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
        keys = [(_KEYS.get(key.kind, "text"), key.values) for key in self.plan.keys]
        sizes = tuple(None if own is None else (kind, len(own)) for kind, own in keys)
        statement = Derivation(self.facts, sizes, self.part)
        answer = answer_of(read_statement(sql), statement)
        shown, owner = answer.sources(self.names), answer.rows.owner
        own = not self.withheld or answer.sources(self.private) <= answer.rows.units
        require(own, "A key is withheld that is not the unit.")
        charged = statement.read <= {folded(name) for name in self.plan.tables}
        require(charged, "A statement reads a private table that is not charged.")
        alike = owner is not None and owner.neighbors == self.plan.neighbors
        require(alike, "The statement has other neighbours than the plan.")
        groups = answer.rows.groups_per_unit(shown) if shown else 1
        rows = answer.rows.rows_per_group(shown)
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
        found = []
        for block in blocks:
            rows = vectors(map(answer.form, block.features))
            reach = answer.reach(block.features)
            found.append(self._block(block, reach, limits, whole, rows))
        return [*found, *([self._shown(answer, *limits)] if shown else [])]

    def _block(
        self,
        block: Block,
        reach: Joint,
        limits: Limits,
        whole: int | None = None,
        rows: Vectors | None = None,
    ) -> Moved:
        """The noise of one block, by definition: Laplace noise of scale b costs L1 / b, and
        Gaussian noise of variance s costs mu squared = L2 squared / s."""
        plan, size = self.plan, len(block.features)
        l1, square = movement(
            reach, size, limits, plan.neighbors, keyed=bool(plan.keys), whole=whole
        )
        if rows is not None:
            square = min(square, vector_movement(rows, limits, plan.neighbors, whole))
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
        """Sums over cells of |scale * count - public integer|, times a weight, where all counts
        are sums of one statement's: it counts the rows of each combination of cells. So a row
        moves one cell of each table by `scale`, and a sum of absolute values moves by no more
        than its terms together. One unit moves each distance by `scale` times its rows, and by
        its weight; replaced, by twice that. The mechanism chooses by the size of one distance,
        once for each name, or adds noise to all of them."""
        answer, (_, rows) = self._read(distances.sql)
        names = [f"c{place}" for place in range(len(distances.sizes))]
        cells = list(answer.columns) == [*names, "n"] and all(map(answer.is_derived, names))
        require(cells and answer.form("n") == _ONE, "A joint statement has other columns.")
        whole = type(distances.scale) is int and 1 <= distances.scale <= 1 << 20
        plan, sizes = self.plan, distances.sizes
        others = (
            plan.keys or plan.engine_sql or plan.choices or plan.blocks or plan.thresholding
        )
        filled = all(type(s) is int and 1 <= s < 1 << 31 for s in sizes)
        require(filled, "A column has no cells.")
        require(whole and not others, "Distances stand alone, and have whole scales.")
        for table in distances.tables:
            own = (*table.model, table.bias, table.weight)
            fits = all(type(cell) is int and abs(cell) <= 1 << 62 for cell in own)
            fits = fits and 0 <= table.weight <= 1 << 20 and min(table.columns) >= 0
            inside = all(place in range(len(table.model)) for place in table.places)
            size = prod(distances.sizes[place] for place in table.columns)
            inside = inside and size == len(table.places or table.model)
            require(fits and inside, "A model has cells of other kinds, or too few.")
        step = (1 if self.plan.neighbors == "add-remove" else 2) * distances.scale * rows
        weights = [table.weight for table in distances.tables]
        mechanism: Any = distances.mechanism
        kind, declared = _kind(mechanism), mechanism.sensitivity
        many = sum(w * w for w in weights) if kind == "Gaussian" else max(weights) ** 2
        square, step = step**2 * many, step * max(weights)
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
        if _kind(mechanism) in ("Quantiles", "QuantileIntervals"):
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
