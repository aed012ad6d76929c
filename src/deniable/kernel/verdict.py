"""The verdict on a plan: what its statements and its noise really cost, against its claims.

The outermost SELECT of a statement is the only place where rows of several units meet. It
returns one row per group, with keys and sums, or the counts of cells.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, prod
from typing import Any, NamedTuple

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.derivation import Derivation, Tables
from deniable.kernel.facts import Facts, folded
from deniable.kernel.polynomials import Caps, Joint, RowSum, joint, movement
from deniable.kernel.reading import Node, conditions, match, only, read_statement, require
from deniable.kernel.relations import Relation
from deniable.kernel.sources import PartRule, group_names, outputs, spread_sets
from deniable.kernel.values import Names, Value
from deniable.privacy import ApproximateLoss, GaussianLoss, Loss, PureLoss
from deniable.query.plan.plan import STORED, Block, Choice, Distances, Plan

_ONE = RowSum.constant(1)  # what a row adds to a count
_KEYS = {"number": "int", "moment": "int", "boolean": "bool"}  # others are texts
_LAST = ("expressions", "from_", "where", "group", "having", "with_")


class LastSelect(NamedTuple):
    """The columns of the answer, and the rows that were added up to it."""

    columns: Mapping[str, Value]
    expressions: Mapping[str, Node]  # the expression of each column
    rows: Relation
    keys: Names  # the columns of GROUP BY

    def sources(self, names: Iterable[str]) -> Names:
        """The columns of GROUP BY that some columns of the answer are."""
        parts = [require(self.expressions.get(name), "A key is missing.") for name in names]
        return frozenset(self.rows.name(part) for part in parts)

    def holds(self, keys: list[str], cells: list[str]) -> bool:
        """Whether the columns are keys, cells that are computed from keys, and a number n."""
        same = list(self.columns) == [*keys, *cells, "n"]
        return same and all(self.expressions[name].find(exp.AggFunc) is None for name in cells)

    def form(self, name: str) -> RowSum:
        """The sum over rows that a column is."""
        return require(self.columns[name].form, "A feature is not a sum over rows.").rows

    def reach(self, features: list[RowSum]) -> Joint:
        """How far one row moves several sums together. If all of them are plain sums of columns
        that were cut by the same count, by what the rows below these can do."""
        cut = [(n, v, v.form) for n, v in self.rows.columns.items() if v.form and v.form.cut]
        sums = [(RowSum.variable(n, v.low, v.high).present([n]), form) for n, v, form in cut]
        shares = [form for feature in features for plain, form in sums if feature == plain]
        if len(shares) == len(features) and len({share.cut for share in shares}) == 1:
            return joint(share.rows for share in shares).times(shares[0].cut)
        return joint(features)


def answer_of(node: Node, statement: Derivation, tables: Tables) -> LastSelect:
    """Adds up the rows of each group. HAVING may leave out groups whose keys are not declared.

    Proof. Rows belong to known units. One unit adds to the sums of a group what its own rows
    there add, and these are the only rows that change when the unit does. Which groups are left
    out depends on their keys alone, so it is the same for all tables.
    """
    if not isinstance(node, exp.Select):
        raise PlanRefused("The statement is not a SELECT.")
    rows = statement.filtered(only(node, *_LAST), tables)
    require(rows.owner and rows.known, "The answer is not about rows of known units.")
    node, rows = spread_sets(node, rows)
    keys = group_names(node, rows)
    require(not (rows.numbered and keys & rows.units), "The answer has row numbers for keys.")
    groups = Relation({name: rows.columns[name] for name in keys}, None, 1)
    for condition in conditions(node.args.get("having")):
        statement.among(groups, condition, {})
    columns = statement.project(node, rows, keys).columns
    require(not any(key.unsure for key in columns.values()), "A key may have either sign.")
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
    withheld: bool
    part: PartRule | None = None

    def _names(self, *, private: bool = False) -> list[str]:
        """The names of the keys in every statement, or of those that are not declared."""
        keys = enumerate(self.plan.keys)
        return [f"k{i}" for i, key in keys if key.values is None or not private]

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
        require(not (plan.part and plan.beside), "A part is read beside another private table.")
        hidden = plan.thresholding or len(self._names(private=True)) <= int(self.withheld)
        require(hidden, "Private keys are shown without a threshold.")
        statements = [statement.name for statement in plan.statements]
        features = [feature for block in plan.blocks for feature in block.features]
        own = all(len(set(names)) == len(names) for names in (statements, features))
        require(own, "Two statements or features of the plan have the same name.")
        shared = [block for block in plan.blocks if not block.sql]
        paid = bool(plan.engine_sql) == bool(shared or plan.thresholding)
        require(paid, "The plan has statements that nothing pays for.")
        movements = self._groups(shared) if plan.engine_sql else []
        for block in (block for block in plan.blocks if block.sql):
            row_sum, limits = self._cells(block.sql)
            sums = [row_sum] * len(block.features)
            movements.append(self._block(block, sums, joint([row_sum]), limits))
        movements += [self._distances(plan.distances)] if plan.distances else []
        return (*movements, *(self._chosen(choice) for choice in plan.choices))

    def _read(self, sql: str) -> tuple[LastSelect, Caps]:
        """The answer of a statement, and how many groups and rows of it are one unit's."""
        keys = [(_KEYS.get(key.kind, "text"), key.values) for key in self.plan.keys]
        sizes = tuple(None if own is None else (kind, len(own)) for kind, own in keys)
        statement = Derivation(self.facts, sizes, self.part)
        answer = answer_of(read_statement(sql), statement, self._stored(statement))
        rows, keyed = answer.rows, answer.sources(self._names())
        own = not self.withheld or answer.sources(self._names(private=True)) <= rows.units
        require(own, "A key is withheld that is not the unit.")
        charged = statement.read <= {folded(name) for name in self.plan.tables}
        require(charged, "A statement reads a private table that is not charged.")
        groups, each = rows.groups_per_unit(keyed) if keyed else 1, rows.rows_per_group(keyed)
        if groups is None or each is None:
            raise PlanRefused("A unit may have any number of groups, or of rows in a group.")
        return answer, Caps(groups, each, rows.rows_per_group([]))

    def _stored(self, statement: Derivation) -> Tables:
        """The stored rows, if the plan has any: what their own statement makes.

        Proof. Their statement is derived by the same rules as if it stood wherever its rows are
        read: their owner, their limits and the ranges of their columns are those of its rows,
        it reads only tables that are charged, and of a part only the part. It reads no declared
        keys, which are not in its text, and numbers no rows. So its rows depend on its text,
        the tables and the salt: it makes no difference whether they are computed once, for
        several plans, or wherever they are read.
        """
        if not self.plan.stored:
            return {}
        require(self.facts.find(STORED) is None, "A table has the name of the stored rows.")
        no_more = {folded(table.name) for table in self.facts.tables}
        alone = replace(statement, keys=(), numbered=no_more)
        return {STORED: alone.relation(read_statement(self.plan.stored), {})}

    def _groups(self, blocks: list[Block]) -> list[Moved]:
        """The groups' statement: its columns are the keys, `units` and the features, in the
        order of the blocks, and it has one row for each group."""
        (answer, limits), names = self._read(self.plan.engine_sql), self._names()
        units = ["units"] if self.plan.thresholding is not None else []
        columns = [*names, *units, *(name for block in blocks for name in block.features)]
        same = list(answer.columns) == columns and answer.sources(names) == answer.keys
        require(same, "The statement has other columns or groups than the plan.")
        movements = []
        for block in blocks:
            features = [answer.form(name) for name in block.features]
            movements.append(self._block(block, features, answer.reach(features), limits))
        return [*movements, *([self._shown(answer, limits)] if units else [])]

    def _block(self, block: Block, features: list[RowSum], reach: Joint, limits: Caps) -> Moved:
        """The noise of one block. With `other`, all groups of a unit may be in the group of
        others, and add up."""
        keyed, neighbors = bool(self.plan.keys), self.plan.neighbors
        l1, square = movement(features, reach, limits, neighbors, keyed=keyed)
        return _noise(block.mechanism, block.about, l1, l1**2 if self.plan.other else square)

    def _shown(self, answer: LastSelect, limits: Caps) -> Moved:
        """The threshold counts units: one row of a unit in each group, and each counts 1."""
        rule, groups = require(self.plan.thresholding, "There is no threshold."), limits.groups
        once = answer.form("units") == _ONE and limits.rows == 1
        require(once, "`units` does not count each unit once in a group.")
        fits = rule.groups >= groups and rule.neighbors == self.plan.neighbors
        require(
            fits and _kind(rule) == "Thresholding", "The threshold is made for fewer groups."
        )
        loss = ApproximateLoss(rule.epsilon, rule.delta)
        return Moved("units", groups, groups, Fraction(rule.groups), loss)

    def _cells(self, sql: str) -> tuple[RowSum, Caps]:
        """A statement of cells: keys, the cell of a row, and how many rows have it. A row adds
        1 to one cell. Different values: a unit brings at most as many to a group as it has rows
        there, whatever values the others have.

        Proof for their sum. Let S be the values of the others in a group, and A those of the
        unit's n rows there. Without the unit, the sum of S | A loses the sum of A - S: that of
        at most n different values in the range, so of n rows that each add a value or nothing.
        If others B come, it is the sum of B - S in the place of that of A - S.
        """
        (answer, limits), names = self._read(sql), self._names()
        require(answer.holds(names, ["cell"]), "A statement of cells has other columns.")
        keys, row_sum = answer.sources(names), _ONE
        different = match(answer.expressions["n"], "COUNT(DISTINCT x)")
        added = match(answer.expressions["n"], "COALESCE(SUM(DISTINCT CAST(x AS INT128)), 0)")
        counts = keys == answer.keys if different or added else answer.form("n") == _ONE
        require(counts and keys <= answer.keys, "A statement of cells counts something else.")
        if added:
            value = answer.rows.columns[answer.rows.name(added["x"])]
            row_sum = RowSum.variable("v", value.low, value.high).present("v")
        return row_sum, limits

    def _distances(self, distances: Distances) -> Moved:
        """Sums over cells of |scale * count - public integer|, times a weight, where all counts
        are sums of one statement's: it counts the rows of each combination of cells. So a row
        moves one cell of each table by `scale`, and a sum of absolute values moves by no more
        than its terms together. One unit moves each distance by `scale` times its rows, and by
        its weight; replaced, by twice that. The mechanism chooses by the size of one distance,
        once for each name, or adds noise to all of them."""
        plan, mechanism = self.plan, distances.mechanism
        answer, limits = self._read(distances.sql)
        cells = answer.holds([], [f"c{place}" for place in range(len(distances.sizes))])
        require(cells and answer.form("n") == _ONE, "A joint statement has other columns.")
        others = (plan.keys, plan.engine_sql, plan.choices, plan.blocks, plan.thresholding)
        require(not any(others), "Distances stand alone.")
        _check_tables(distances)
        step = (1 if plan.neighbors == "add-remove" else 2) * distances.scale * limits.rows
        weights = [table.weight for table in distances.tables]
        if _kind(mechanism) == "Gaussian":
            square = step**2 * sum(weight**2 for weight in weights)
            return _noise(mechanism, distances.about, step * max(weights), square)
        chosen: Any = mechanism
        known = _kind(chosen) == "Exponential" and not chosen.monotone and chosen.step is None
        require(known, "The mechanism of distances has no rule.")
        most, loss = step * max(weights), chosen.loss * len(distances.names)
        _check_declared(distances.about, most, most <= chosen.sensitivity, chosen.sensitivity)
        return Moved(distances.about, most, most**2, chosen.sensitivity, loss)

    def _chosen(self, choice: Choice) -> Moved:
        """How many steps of its mechanism one unit is. A quantile's step is one row, a
        frequency's step moves counts by up to its sensitivity, all in one direction if it is
        monotone. A unit that is replaced takes its rows away and brings others."""
        (row_sum, limits), mechanism = self._cells(choice.sql), choice.mechanism
        require(row_sum == _ONE, "A choice is made by something else than counts.")
        replaced, keyed = self.plan.neighbors == "replace", bool(self.plan.keys)
        own: Any = mechanism
        if _kind(mechanism) in ("Quantiles", "QuantileIntervals"):
            swaps = own.neighbors == "replace"
            private = not swaps or (replaced and own.method == "independent")
            require(private, "Quantiles that take the number of rows for public.")
            once, steps, rounds = not keyed and swaps, limits.rows, 1
        else:
            known = _kind(mechanism) == "PermuteAndFlip" and own.step is None
            require(known, "The choice has no rule.")
            once, rounds = not keyed and not own.monotone, len(choice.names)
            steps = ceil(limits.rows / own.sensitivity)
        steps *= limits.groups * (2 if replaced and not once else 1)
        within = steps <= choice.changes
        require(within, f"One unit is {steps} steps; the plan counts {choice.changes}.")
        loss = (own.loss * rounds).group(steps)
        return Moved(choice.about, steps, steps, Fraction(choice.changes), loss)


def _noise(mechanism: Any, about: str, l1: int, square: int) -> Moved:
    """What noise costs by definition: Laplace noise of scale b costs L1 / b, and Gaussian noise
    of variance s costs mu squared = L2 squared / s."""
    kind, declared = _kind(mechanism), mechanism.sensitivity
    plain = mechanism.step == 1 and getattr(mechanism, "odds", None) is None
    require(plain and kind in ("Laplace", "Gaussian"), "The noise of a block has no rule.")
    enough = l1 <= declared if kind == "Laplace" else square <= declared**2
    _check_declared(about, l1, enough, declared)
    if kind == "Laplace":
        loss: Loss = PureLoss(max(1, l1) * mechanism.epsilon / declared)
    else:
        loss = GaussianLoss(mu_squared=max(1, square) / mechanism.variance)
    return Moved(about, l1, square, declared, loss)


def _check_declared(about: str, l1: int, enough: bool, declared: Fraction) -> None:
    require(enough, f"One unit moves {about} by {l1} (L1), and the plan declares {declared}.")


def _check_tables(distances: Distances) -> None:
    """Refuses tables of distances that could overflow, or have other cells than they say."""
    fits = _whole([distances.scale], 1, 1 << 20) and _whole(distances.sizes, 1, (1 << 31) - 1)
    require(fits, "A column has no cells, or a scale is not a whole number.")
    for table in distances.tables:
        fits = bool(table.columns) and _whole([*table.model, table.bias], -1 << 62, 1 << 62)
        fits = fits and _whole([table.weight], 0, 1 << 20)
        fits = fits and _whole(table.columns, 0, len(distances.sizes) - 1)
        fits = fits and _whole(table.places, 0, len(table.model) - 1)
        require(fits, "A model has cells of other kinds.")
        cells = prod(distances.sizes[place] for place in table.columns)
        require(cells == len(table.places or table.model), "A model has too few cells.")


def _whole(numbers: Iterable[object], low: int, high: int) -> bool:
    return all(type(number) is int and low <= number <= high for number in numbers)


def _kind(mechanism: object) -> str:
    """The class of a mechanism, which must be one of our own."""
    own = type(mechanism).__module__.startswith("deniable.mechanisms.")
    return type(mechanism).__name__ if own else ""
