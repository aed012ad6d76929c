"""The margins of a release, found again from nothing but its plan and its rows.

- Where the noise alone decides (counts, sums, their sums and differences): the quantile of the
  noise, the same in every row (`statement.certain_margin`).
- Of a chosen value, in ranks or rows: the mechanism's own margin, for the most rows there may
  be, or for as many candidates as there are labels.
- Of a quantile in the column's own unit: it reaches to quantiles that were released beside it,
  or to the bounds. How far out these stand hangs on the noisy number of rows, which is not
  handed over. So it must be one of them, on both sides alike, and none that is nearer than a
  table as large as can be would allow.
- Everything else (averages, variances) hangs on noisy integers that are not handed over: such
  margins are not found again, and `not_found` names them.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from deniable.mechanisms import PermuteAndFlip, Quantiles
from deniable.query.plan.plan import (
    Choice,
    Chosen,
    Output,
    Plan,
)
from deniable.release.answer.answer import column_names
from deniable.release.certificate.statement import noise_margin

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

_TOLERANCE = 1e-3  # how near a margin of several noises must come


def choice_margin(choice: Choice, confidence: Fraction) -> int | None:
    """Ranks that a quantile may be off, or rows that a value may be behind; None where the
    plan does not say for how many rows.

    >>> flip = PermuteAndFlip(epsilon=1)
    >>> choice_margin(Choice(("q",), "mode", flip, 1, "", ("A", "B")), Fraction(19, 20))
    4
    """
    mechanism = choice.mechanism
    if isinstance(mechanism, PermuteAndFlip):
        return int(mechanism.margin(confidence, candidates=len(choice.labels or ())))
    return None if choice.rows is None else mechanism.margin(confidence, rows=choice.rows)


def unchecked_outputs(plan: Plan) -> tuple[str, ...]:
    """The outputs whose margins only the one who has the noisy integers can find."""
    return tuple(
        name
        for one, (name, beside) in zip(plan.outputs, column_names(plan), strict=True)
        if beside is not None
        and _constant_margin(plan, one) is None
        and _choice_shown_whole(plan, one) is None
    )


def wrong_margins(plan: Plan, table: "pa.Table") -> Iterator[tuple[str, object, float]]:
    """Margins in the rows that cannot be: their column, what is told, what is found."""
    rows = table.to_pylist()
    for place, (_, beside) in enumerate(column_names(plan)):
        if beside is None or beside not in table.column_names:
            continue
        certain, choice = (
            _constant_margin(plan, plan.outputs[place]),
            _choice_shown_whole(plan, plan.outputs[place]),
        )
        for row in rows:
            told = row[beside]
            possible = [certain] if certain is not None else []
            if choice is not None:
                possible = _possible_margins(plan, place, choice, row)
            unknown = told is None and choice is None  # such as what was divided by zero
            if (
                possible
                and not unknown
                and not any(margins_agree(told, one) for one in possible)
            ):
                yield beside, told, possible[0]


def margins_agree(one: Any, other: float) -> bool:
    """Whether two margins are one: floats convolve the noises of a sum."""
    return type(one) in (int, float) and (
        one == other or abs(one - other) <= _TOLERANCE * abs(other)
    )


def _constant_margin(plan: Plan, output: Output) -> float | None:
    """The margin that is the same in every row."""
    if not isinstance(output.node, Chosen):
        return noise_margin(plan, output)
    choice = plan.choices[output.node.choice]
    found = choice_margin(choice, plan.confidence) if output.margin_in else None
    return None if found is None else float(found)


def _choice_shown_whole(plan: Plan, output: Output) -> Choice | None:
    """The choice of a quantile whose margin reaches to others, where all of them are shown."""
    if not isinstance(output.node, Chosen) or output.margin_in:
        return None
    choice = plan.choices[output.node.choice]
    shown = {one.node.name for one in plan.outputs if isinstance(one.node, Chosen)}
    return choice if {*choice.names} <= shown else None


def _possible_margins(plan: Plan, place: int, choice: Choice, row: Row) -> list[float]:
    """Every margin that some number of rows makes, the least one first."""
    mechanism, node = choice.mechanism, plan.outputs[place].node
    assert isinstance(mechanism, Quantiles)
    assert isinstance(node, Chosen)
    pairs = zip(plan.outputs, column_names(plan), strict=True)
    named = {
        one.node.name: row[name] for one, (name, _) in pairs if isinstance(one.node, Chosen)
    }
    values = dict(zip(mechanism.quantiles, (named[one] for one in choice.names), strict=True))
    level = mechanism.quantiles[choice.names.index(node.name)]
    ends = mechanism.grid.value(0), mechanism.grid.value(mechanism.grid.size - 1)
    steps = sorted({abs(one - level) for one in values} - {Fraction(0)}, reverse=True)
    own, nearest = values[level], _least_reach(choice, plan.confidence)
    found: list[float] = []
    for step in [Fraction(1), *(one for one in steps if one >= nearest)]:  # 1: beyond all
        low = max((v for q, v in values.items() if q <= level - step), default=ends[0])
        high = min((v for q, v in values.items() if q >= level + step), default=ends[1])
        found.insert(0, float(max(high - own, own - low)))
    return found


def _least_reach(choice: Choice, confidence: Fraction) -> Fraction:
    """A share of the rows that no margin in ranks is below; halved, as the count is noisy."""
    ranks = choice_margin(choice, confidence)
    return Fraction(ranks, 2 * choice.rows) if ranks and choice.rows else Fraction(0)
