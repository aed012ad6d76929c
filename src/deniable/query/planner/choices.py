"""Values that are chosen rather than added up: quantiles, extremes, most frequent values.

All quantiles of one argument, including MEDIAN, MIN and MAX, are one release, with the ends of
their intervals, unless these are not wanted or not shown. Its
mechanism is private with respect to single rows. One unit has at most g * m rows, m in each of
g groups, so the mechanism gets epsilon / (g m): a release that is that private for a row is
epsilon-private for the unit (group privacy). Under "replace" a unit's rows vanish from some
groups and appear in others, which is twice as many steps. Without groups, a row that changes
is one step for the mechanisms that know the relation, and a row that comes or goes is no more
than that for them, so the number of rows need not be public.

The most frequent value comes from permute-and-flip over the declared values: one unit moves
each count of a group by at most m, all in one direction. TOP_K chooses a value, removes it and
chooses again, each time for an equal part of epsilon (peeling).
"""

from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.mechanisms import PermuteAndFlip, QuantileIntervals, Quantiles
from deniable.mechanisms.quantiles.best_method import choose_method
from deniable.privacy.neighbors import neighboring
from deniable.query.language.syntax_tree import Aggregate, Expression, Named
from deniable.query.plan.grid_steps import coarsen_by_tens
from deniable.query.plan.plan import Choice
from deniable.query.planner.draft import TYPICAL_ROWS, Draft, UnpricedChoice
from deniable.query.relations.kind_checks import declare
from deniable.query.relations.scope import Scope
from deniable.query.statements.group_keys import key_of

MOST_CELLS = 1 << 22
QUANTILES = frozenset({"quantile", "quantiles", "min", "max"})
MODES = frozenset({"mode", "top_k"})
# Up to this many quantiles are drawn independently: hardly worse than jointly, and with
# margins in ranks that are several times smaller.
_FEW = 3


def choose_values(draft: Draft) -> None:
    """A step of the planner: for each aggregate the values that it is chosen with."""
    aggregates = [
        aggregate for aggregate in draft.aggregates if aggregate.name in QUANTILES | MODES
    ]
    chosen: dict[Aggregate, UnpricedChoice] = {}
    for argument in dict.fromkeys(aggregate.argument for aggregate in aggregates):
        assert argument is not None
        same = [aggregate for aggregate in aggregates if aggregate.argument == argument]
        ranked = [aggregate for aggregate in same if aggregate.name in QUANTILES]
        if ranked:
            chosen |= dict.fromkeys(ranked, _quantiles(argument, ranked, draft))
        frequent = [aggregate for aggregate in same if aggregate.name in MODES]
        if frequent:
            chosen |= dict.fromkeys(frequent, _modes(argument, frequent, draft.scope))
    draft.choice_of = {aggregate: chosen[aggregate] for aggregate in aggregates}
    draft.unpriced = tuple(dict.fromkeys(draft.choice_of.values()))


def _quantiles(
    argument: Expression, aggregates: Sequence[Aggregate], draft: Draft
) -> UnpricedChoice:
    low, high, step = _grid(argument, draft.scope)
    levels = {level for aggregate in aggregates for level in aggregate.levels}
    levels |= {
        Fraction(extreme.name == "max")
        for extreme in aggregates
        if extreme.name in ("min", "max")
    }
    # What is only a part of a formula, of HAVING or of ORDER BY has no interval to show.
    outputs = {named.expression for named in draft.question.outputs}
    brackets = draft.request.brackets and not outputs.isdisjoint(aggregates)
    return UnpricedChoice(argument, tuple(sorted(levels)), low, high, step, brackets=brackets)


def _grid(argument: Expression, scope: Scope) -> tuple[int, int, Fraction]:
    """The cells. An undeclared grid is made coarse enough; a declared one may be refused."""
    low, high, step = scope.grid(argument)
    declared = scope.value_range(argument).step is not None
    if not declared:
        low, high, step = coarsen_by_tens(low, high, step, widest=MOST_CELLS - 1)
    if high - low >= MOST_CELLS:
        coarser = decimal_text(step * 10 ** (len(str((high - low) // MOST_CELLS))))
        raise InvalidQuery(
            f"Quantiles of {argument} would count {high - low + 1:,} cells, and at most "
            f"{MOST_CELLS:,} are possible.\n  Declare a coarser step, for example   step = "
            f"{coarser},   or ask about ROUND({argument} / {coarser}) * {coarser}."
        )
    return low, max(high, low + 1), step


def _modes(
    argument: Expression, aggregates: Sequence[Aggregate], scope: Scope
) -> UnpricedChoice:
    key = key_of(Named(str(argument), argument), scope)
    most = max(aggregate.bins or 1 for aggregate in aggregates)
    if key.values is None:
        raise InvalidQuery(
            f"{aggregates[0]} chooses among declared values, but {argument} has no declared "
            f"values. Declare them, for example   {declare(argument, scope.table)}   or ask "
            f"SELECT {argument}, COUNT(*) AS n ... GROUP BY {argument} ORDER BY n DESC LIMIT "
            f"{most}."
        )
    if most > len(key.values):
        raise InvalidQuery(
            f"{aggregates[0]}: {argument} has only {len(key.values)} declared values."
        )
    return UnpricedChoice(argument, key=key, most=most)


def difficulty(choice: UnpricedChoice, draft: Draft) -> float:
    """The margin at epsilon 1 as a share of the rows."""
    mechanism, _ = _mechanism(choice, Fraction(1), draft)
    rows = draft.table.expected_rows or TYPICAL_ROWS
    margin = _margin(choice, mechanism, rows, draft.request.confidence)
    return min(1.0, margin / rows)


def price_choices(draft: Draft) -> None:
    """A step of the planner: every choice with its mechanism, margin and statement."""
    ceiling, confidence = draft.table.row_ceiling, draft.request.confidence
    choices = []
    priced = zip(draft.unpriced, draft.choice_epsilons, strict=True)
    for place, (choice, epsilon) in enumerate(priced):
        mechanism, changes = _mechanism(choice, epsilon, draft)
        choices.append(
            Choice(
                choice.names(place),
                choice.about,
                mechanism,
                changes,
                _statement(choice, draft),
                labels=None if choice.key is None else choice.key.known,
                margin=_margin(choice, mechanism, ceiling, confidence),
                rows=ceiling if isinstance(mechanism, Quantiles) else None,
            )
        )
    draft.choices = tuple(choices)


def _statement(choice: UnpricedChoice, draft: Draft) -> str:
    if draft.cells is None:
        return ""
    if choice.key is not None:
        return draft.cells.count_keys(choice.argument, choice.key)
    return draft.cells.count_grid(choice.argument, choice.low, choice.high, choice.step)


def _mechanism(
    choice: UnpricedChoice, epsilon: Fraction, draft: Draft
) -> tuple[Quantiles | QuantileIntervals | PermuteAndFlip, int]:
    """The mechanism, and how many of its steps one unit can be."""
    table, keyed = draft.table, bool(draft.keys)
    rows, replace = table.max_rows_per_unit_per_group, table.neighbors == "replace"
    if choice.key is not None:
        # With keys, a unit's rows may vanish from some groups and appear in others.
        changes = draft.groups * (2 if replace and keyed else 1)
        part = epsilon / (changes * choice.most)
        monotone = not replace or keyed
        return PermuteAndFlip(epsilon=part, sensitivity=rows, monotone=monotone), changes
    if choice.brackets or {0, 1} & {*choice.levels}:
        return _intervals(choice, epsilon, draft)
    changes, relation = draft.groups * rows * (2 if replace else 1), "add-remove"
    if replace and not keyed and len(choice.levels) <= _FEW:
        changes, relation = rows, "replace"
    size, neighbors = choice.high - choice.low + 1, neighboring(relation)
    method, _ = choose_method("auto", len(choice.levels), neighbors, size)
    mechanism = Quantiles(
        choice.levels,
        epsilon=epsilon / changes,
        bounds=choice.bounds,
        step=choice.step,
        neighbors=neighbors,
        method="independent" if len(choice.levels) <= _FEW else method.name,
    )
    return mechanism, changes


def _intervals(
    choice: UnpricedChoice, epsilon: Fraction, draft: Draft
) -> tuple[QuantileIntervals, int]:
    """Quantiles with intervals, or with MIN or MAX among them."""
    table = draft.table
    rows, replace = table.max_rows_per_unit_per_group, table.neighbors == "replace"

    def intervals(changes: int, relation: str) -> QuantileIntervals:
        return QuantileIntervals(
            choice.levels,
            epsilon=epsilon / changes,
            bounds=choice.bounds,
            step=choice.step,
            neighbors=neighboring(relation),
            confidence=draft.request.confidence,
            brackets=choice.brackets,
        )

    if replace and not draft.keys:
        once = intervals(rows, "replace")
        if once.method == "independent":
            return once, rows
    changes = draft.groups * rows * (2 if replace else 1)
    return intervals(changes, "add-remove"), changes


def _margin(
    choice: UnpricedChoice,
    mechanism: Quantiles | QuantileIntervals | PermuteAndFlip,
    rows: int,
    confidence: Fraction,
) -> int:
    """Ranks that any quantile may be off, or rows that a chosen value may be behind; or the
    reach of intervals."""
    if isinstance(mechanism, QuantileIntervals):
        return mechanism.reach
    if isinstance(mechanism, Quantiles):
        return mechanism.margin(confidence, rows=rows)
    return int(mechanism.margin(confidence, candidates=choice.candidates))
