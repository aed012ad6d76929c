"""Which values are chosen rather than added up: quantiles, extremes, most frequent values.

All quantiles of one argument, MEDIAN, MIN and MAX among them, are one joint release (`Pick`).
Its mechanism is private with respect to single rows. One unit's rows are at most g * m of
them, in g groups with m rows each, so the mechanism gets epsilon / (g m), and a release that
is that private for a row is epsilon-private for the unit (group privacy). Under "replace" a
unit's rows vanish here and appear there, twice as many steps; without groups a row that
changes is one step for the mechanisms that know the relation, and one that comes or goes is
no more than that for them, so the number of rows need not be public.

The most frequent value comes from permute-and-flip over the declared values: one unit moves
each count of a group by at most m, all in one direction. TOP_K peels: it chooses, takes the
chosen one away and chooses again, each time for an equal part of epsilon.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.mechanisms import PermuteAndFlip, Quantiles
from deniable.mechanisms.quantiles.best_method import choose
from deniable.policy import Table
from deniable.privacy.neighbors import neighboring
from deniable.query.language.expressions import Aggregate, Expression, plain
from deniable.query.language.question import Named
from deniable.query.plan.plan import (
    Choice,
    Chosen,
    GroupKey,
)
from deniable.query.relations.scope import Scope
from deniable.query.statements import group_keys as grouping
from deniable.query.statements.cells import CellStatement

MOST_CELLS = 1 << 22
TYPICAL_ROWS = 10_000  # in a group, where the policy expects none
QUANTILES = frozenset({"quantile", "quantiles", "min", "max"})
MODES = frozenset({"mode", "top_k"})
# So few quantiles are drawn each for itself: hardly worse than together, and with margins in
# ranks that are several times smaller.
_FEW = 3


@dataclass(frozen=True, slots=True)
class Pick:
    """Values of one argument that are chosen together, before their price is known."""

    argument: Expression
    levels: tuple[Fraction, ...] = ()  # of quantiles
    low: int = 0
    high: int = 1
    step: Fraction = Fraction(1)
    key: GroupKey | None = None  # of the most frequent values
    most: int = 1  # how many of them
    share: Fraction = Fraction(0)  # what MIN and MAX leave beyond them

    @property
    def candidates(self) -> int:
        """How many values there are to choose from."""
        return len((self.key and self.key.values) or ()) or self.high - self.low + 1

    @property
    def range(self) -> Fraction:
        """The argument's public range."""
        return (self.high - self.low) * self.step

    @property
    def about(self) -> str:
        """In words."""
        if self.key is not None:
            several = "value" if self.most == 1 else f"{self.most} values"
            return f"most frequent {several} of {self.argument}, of {self.candidates:,}"
        levels = ", ".join(plain(one) for one in self.levels)
        return f"quantile{'s' * (len(self.levels) > 1)} {levels} of {self.argument}"


@dataclass(frozen=True, slots=True)
class UnitShare:
    """How far one unit reaches: its groups and rows, the relation, and the rows expected."""

    groups: int
    keyed: bool
    table: Table
    expected: float | None  # rows in a group

    @property
    def sides(self) -> int:
        """2 where a unit's rows vanish in some groups and appear in others."""
        return 2 if self.table.neighbors == "replace" and self.keyed else 1


def picks(
    asked: Iterable[Aggregate], scope: Scope, *, epsilon: Fraction, unit: UnitShare
) -> dict[Aggregate, Pick]:
    """For each aggregate what it is chosen with; `epsilon` is about what each may cost."""
    wanted = list(dict.fromkeys(asked))
    found: dict[Aggregate, Pick] = {}
    for argument in dict.fromkeys(one.argument for one in wanted):
        assert argument is not None
        about = [one for one in wanted if one.argument == argument]
        ranked = [one for one in about if one.name in QUANTILES]
        if ranked:
            found |= dict.fromkeys(ranked, _quantiles(argument, ranked, scope, epsilon, unit))
        frequent = [one for one in about if one.name in MODES]
        if frequent:
            found |= dict.fromkeys(frequent, _modes(argument, frequent, scope))
    return {one: found[one] for one in wanted}


def _quantiles(
    argument: Expression,
    asked: Sequence[Aggregate],
    scope: Scope,
    epsilon: Fraction,
    unit: UnitShare,
) -> Pick:
    low, high, step = _grid(argument, scope)
    levels = {level for one in asked for level in one.levels}
    ends = {one.name for one in asked} & {"min", "max"}
    share = Fraction(0)
    if ends:
        share = extreme(high - low + 1, len(levels) + len(ends), epsilon, unit)
    levels |= ({share} if "min" in ends else set()) | ({1 - share} if "max" in ends else set())
    return Pick(argument, tuple(sorted(levels)), low, high, step, share=share)


def _grid(argument: Expression, scope: Scope) -> tuple[int, int, Fraction]:
    """The cells; a grid that nobody declared is made coarse enough, another is refused.

    Whole numbers beyond 2**53 are not told apart by a double, so no grid is as fine as that.
    """
    low, high, step = scope.grid(argument)
    declared = scope.facts(argument).step is not None
    while max(-low, high) >> 53 or (not declared and high - low >= MOST_CELLS):
        low, high, step = low // 10, -(-high // 10), step * 10
    if high - low >= MOST_CELLS:
        coarser = plain(step * 10 ** (len(str((high - low) // MOST_CELLS))))
        raise InvalidQuery(
            f"Quantiles of {argument} would count {high - low + 1:,} cells; at most "
            f"{MOST_CELLS:,} are counted, for the finest digits carry nothing.\n  Declare a "
            f"coarser step, for example   step = {coarser},   or ask about "
            f"ROUND({argument} / {coarser}) * {coarser}."
        )
    return low, max(high, low + 1), step


def extreme(cells: int, levels: int, epsilon: Fraction, unit: UnitShare) -> Fraction:
    """What share of the rows MAX leaves above it, and MIN below.

    The very largest value is one person's own. So many ranks are left out that the answer is
    one of the empty cells beyond with a chance of a twentieth only; in two digits, at most a
    quarter.
    """
    changes = (
        unit.groups
        * unit.table.max_rows_per_unit_per_group
        * (1 + (unit.table.neighbors == "replace"))
    )
    parts = levels if levels <= _FEW else 1
    ranks = 2 * changes * parts / float(epsilon) * math.log(20 * cells)
    share = ranks / max(1.0, unit.expected or TYPICAL_ROWS)
    if share >= 0.25:
        return Fraction(1, 4)
    digits = 1 - math.floor(math.log10(share))
    return Fraction(math.ceil(share * 10**digits), 10**digits)


def _modes(argument: Expression, asked: Sequence[Aggregate], scope: Scope) -> Pick:
    key = grouping.key_of(Named(str(argument), argument), scope)
    most = max(one.bins or 1 for one in asked)
    if key.values is None:
        raise InvalidQuery(
            f"{asked[0]} chooses among values that are known beforehand. Declare them, for "
            f'example   {argument} = {{ keys = ["A", "B"] }},   or ask SELECT {argument}, '
            f"COUNT(*) AS n ... GROUP BY {argument} ORDER BY n DESC LIMIT {most}."
        )
    if most > len(key.values):
        raise InvalidQuery(f"{asked[0]}: {argument} has {len(key.values)} declared values.")
    return Pick(argument, key=key, most=most)


def level_of(aggregate: Aggregate, pick: Pick) -> Fraction:
    """The level of a quantile, or the one that stands for an extreme."""
    if aggregate.name in ("min", "max"):
        return pick.share if aggregate.name == "min" else 1 - pick.share
    return aggregate.levels[0]


def names(place: int, pick: Pick) -> tuple[str, ...]:
    """What the chosen values are called."""
    count = len(pick.levels) or pick.most
    return tuple(f"q{place}_{j}" for j in range(count))


def chosen(aggregate: Aggregate, pick: Pick, place: int) -> Chosen:
    """The value that answers an aggregate; of several the first."""
    listed = names(place, pick)
    if pick.levels:
        return Chosen(listed[pick.levels.index(level_of(aggregate, pick))], place)
    return Chosen(listed[0], place)


def made(
    pick: Pick,
    place: int,
    epsilon: Fraction,
    unit: UnitShare,
    cells: CellStatement | None,
    confidence: Fraction,
) -> Choice:
    """The choice at its price; without cells only that is known, and nothing can be run."""
    mechanism, changes = _mechanism(pick, epsilon, unit)
    margin = margin_of(pick, mechanism, unit.table.row_ceiling, confidence)
    labels = None if pick.key is None else pick.key.values
    sql = "" if cells is None else _statement(pick, cells)
    rows = None if pick.key is not None else unit.table.row_ceiling
    made = names(place, pick), pick.about, mechanism, changes, sql
    return Choice(*made, labels=labels, margin=margin, rows=rows)


def _statement(pick: Pick, cells: CellStatement) -> str:
    if pick.key is not None:
        return cells.of_keys(pick.argument, pick.key)
    return cells.of_grid(pick.argument, pick.low, pick.high, pick.step)


def _mechanism(
    pick: Pick, epsilon: Fraction, unit: UnitShare
) -> tuple[Quantiles | PermuteAndFlip, int]:
    """What draws, and how many of its steps one unit can be."""
    rows, replace = unit.table.max_rows_per_unit_per_group, unit.table.neighbors == "replace"
    if pick.key is not None:
        changes = unit.groups * unit.sides
        part = epsilon / (changes * pick.most)
        monotone = not replace or unit.keyed
        return PermuteAndFlip(epsilon=part, sensitivity=rows, monotone=monotone), changes
    changes, relation = unit.groups * rows * (2 if replace else 1), "add-remove"
    if replace and not unit.keyed and len(pick.levels) <= _FEW:
        changes, relation = rows, "replace"
    size, near = pick.high - pick.low + 1, neighboring(relation)
    method, _ = choose("auto", len(pick.levels), near, size)
    mechanism = Quantiles(
        pick.levels,
        epsilon=epsilon / changes,
        bounds=(pick.low * pick.step, pick.high * pick.step),
        step=pick.step,
        neighbors=near,
        method="independent" if len(pick.levels) <= _FEW else method.name,
    )
    return mechanism, changes


def margin_of(
    pick: Pick, mechanism: Quantiles | PermuteAndFlip, rows: int, confidence: Fraction
) -> int:
    """Ranks that any quantile may be off, or rows that a chosen value may be behind."""
    if isinstance(mechanism, Quantiles):
        return mechanism.margin(confidence, rows=rows)
    return int(mechanism.margin(confidence, candidates=pick.candidates))


def difficulty(pick: Pick, unit: UnitShare, confidence: Fraction) -> float:
    """The margin at epsilon 1 as a share of the rows."""
    mechanism, _ = _mechanism(pick, Fraction(1), unit)
    rows = unit.table.expected_rows or TYPICAL_ROWS
    return min(1.0, margin_of(pick, mechanism, rows, confidence) / rows)


def notes(found: dict[Aggregate, Pick]) -> list[str]:
    """What a reader should know about choices."""
    said: list[str] = []
    for one, pick in found.items():
        if one.name in ("min", "max"):
            beyond = "below" if one.name == "min" else "above"
            said.append(
                f"{one} is the {plain(level_of(one, pick))} quantile: the very last value is "
                f"one person's own, so about {plain(100 * pick.share)} % of the rows lie "
                f"{beyond} it."
            )
    for pick in dict.fromkeys(found.values()):
        if pick.levels:
            ends = f"{plain(pick.low * pick.step)} to {plain(pick.high * pick.step)}"
            said.append(
                f"Quantiles of {pick.argument} are multiples of {plain(pick.step)} from {ends}."
            )
    return said
