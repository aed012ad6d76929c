"""The margins of a release, computed again from its plan and its rows only.

- A margin that depends only on the noise (counts, sums, their sums and differences): it is a
  quantile of the noise, the same in every row (`statement.noise_margin`).
- The margin of the number of units in a group that is shown if that number passes a threshold:
  it follows from the number itself.
- The margin of a chosen value, in ranks or rows: the mechanism's own margin, for the row
  ceiling, or for the number of labels.
- The margin of a quantile whose interval is drawn reaches to the farther end. The ends are
  released values; their reach in ranks must be the mechanism's own.
- The margin of another quantile, in the column's own unit: it reaches to other released
  quantiles, or to the bounds. Which ones depends on the noisy number of rows, which is not
  released. So the margin must reach to some of them, the same difference of level on both
  sides, and at least as far as in a table of the largest size.
- Other margins (averages, variances) depend on noisy integers that are not released. They
  cannot be checked; `unchecked_outputs` names them.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.mechanisms import PermuteAndFlip, QuantileIntervals, Quantiles
from deniable.query.margins.chosen_rows import chooses_rows
from deniable.query.margins.shown_groups import units_interval
from deniable.query.plan.plan import (
    Choice,
    Chosen,
    Feature,
    Output,
    Plan,
)
from deniable.release.answer.answer_table import column_names
from deniable.release.certificate.statement import noise_margin

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

TOLERANCE = 1e-3  # relative; for margins of sums of several noises


def choice_margin(choice: Choice, confidence: Fraction) -> int | None:
    """The margin of a choice, in ranks (a quantile) or rows (a most frequent value).

    None if the plan does not state the number of rows.

    >>> flip = PermuteAndFlip(epsilon=1)
    >>> choice_margin(Choice(("q",), "mode", flip, 1, "", ("A", "B")), Fraction(19, 20))
    4
    """
    mechanism = choice.mechanism
    if isinstance(mechanism, PermuteAndFlip):
        return int(mechanism.margin(confidence, candidates=len(choice.labels or ())))
    if isinstance(mechanism, QuantileIntervals):
        return mechanism.margin(confidence)
    return None if choice.rows is None else mechanism.margin(confidence, rows=choice.rows)


def unchecked_outputs(plan: Plan) -> tuple[str, ...]:
    """The outputs whose margins depend on integers that are not released."""
    return tuple(
        name
        for output, (name, margin, _) in zip(plan.outputs, column_names(plan), strict=True)
        if margin is not None
        and constant_margin(plan, output) is None
        and not _counts_units(plan, output)
        and _choice_shown_whole(plan, output) is None
        and not _has_drawn_ends(plan, output)
    )


def wrong_margins(plan: Plan, table: "pa.Table") -> Iterator[tuple[str, object, float]]:
    """Impossible margins in the rows: the column, the stated margin, the computed one."""
    rows = table.to_pylist()
    for place, (name, column, _) in enumerate(column_names(plan)):
        if column is None or column not in table.column_names:
            continue
        constant = constant_margin(plan, plan.outputs[place])
        choice = _choice_shown_whole(plan, plan.outputs[place])
        for row in rows:
            stated = row[column]
            possible = [constant] if constant is not None else []
            if choice is not None:
                possible = _possible_margins(plan, place, choice, row)
            elif _counts_units(plan, plan.outputs[place]) and row[name] is not None:
                possible = [_units_margin(plan, float(row[name]))]
            unknown = stated is None and choice is None  # for example after division by zero
            agrees = any(margins_agree(stated, margin) for margin in possible)
            if possible and not unknown and not agrees:
                yield column, stated, possible[0]


def margins_agree(stated: Any, computed: float) -> bool:
    """Whether two margins are equal, up to the floating-point error of a sum of noises."""
    return type(stated) in (int, float) and (
        stated == computed or abs(stated - computed) <= TOLERANCE * abs(computed)
    )


def constant_margin(plan: Plan, output: Output) -> float | None:
    """The margin, if it is the same in every row."""
    if not isinstance(output.node, Chosen):
        return noise_margin(plan, output)
    choice = plan.choices[output.node.choice]
    margin = choice_margin(choice, plan.confidence) if output.margin_in else None
    return None if margin is None else float(margin)


def _has_drawn_ends(plan: Plan, output: Output) -> bool:
    """Whether it is a quantile whose interval is drawn: then its margin follows from that."""
    return isinstance(output.node, Chosen) and isinstance(
        plan.choices[output.node.choice].mechanism, QuantileIntervals
    )


def _counts_units(plan: Plan, output: Output) -> bool:
    """Whether the output is the number of units that decides whether a group is shown, and
    the number of groups is not needed for its margin."""
    chosen = chooses_rows(plan.having, plan.order, plan.limit)
    is_units = isinstance(output.node, Feature) and output.node.name == "units"
    return is_units and plan.thresholding is not None and not chosen


def _units_margin(plan: Plan, shown: float) -> float:
    assert plan.thresholding is not None
    low, high = units_interval(plan.thresholding.noise, np.array([shown]), plan.confidence)
    return float(max(high[0] - shown, shown - low[0]))


def _choice_shown_whole(plan: Plan, output: Output) -> Choice | None:
    """The choice of a quantile with a margin in the column's unit, if all its quantiles are
    outputs."""
    if not isinstance(output.node, Chosen) or output.margin_in:
        return None
    choice = plan.choices[output.node.choice]
    if not isinstance(choice.mechanism, Quantiles):
        return None
    nodes = (other.node for other in plan.outputs)
    shown = {node.name for node in nodes if isinstance(node, Chosen)}
    return choice if {*choice.names} <= shown else None


def _possible_margins(plan: Plan, place: int, choice: Choice, row: Row) -> list[float]:
    """Every margin that some number of rows would give, the smallest first."""
    mechanism, node = choice.mechanism, plan.outputs[place].node
    assert isinstance(mechanism, Quantiles)
    assert isinstance(node, Chosen)
    pairs = zip(plan.outputs, column_names(plan), strict=True)
    by_name = {
        output.node.name: row[name]
        for output, (name, *_) in pairs
        if isinstance(output.node, Chosen)
    }
    released = (by_name[name] for name in choice.names)
    values = dict(zip(mechanism.quantiles, released, strict=True))
    level = mechanism.quantiles[choice.names.index(node.name)]
    ends = mechanism.grid.value(0), mechanism.grid.value(mechanism.grid.size - 1)
    steps = sorted({abs(other - level) for other in values} - {Fraction(0)}, reverse=True)
    own, least = values[level], _least_reach(choice, plan.confidence)
    margins: list[float] = []
    for step in [Fraction(1), *(step for step in steps if step >= least)]:  # 1: to the bounds
        low = max((v for q, v in values.items() if q <= level - step), default=ends[0])
        high = min((v for q, v in values.items() if q >= level + step), default=ends[1])
        margins.insert(0, float(max(high - own, own - low)))
    return margins


def _least_reach(choice: Choice, confidence: Fraction) -> Fraction:
    """A lower bound on any margin in ranks, as a share of the rows.

    It is halved, because the number of rows is noisy.
    """
    ranks = choice_margin(choice, confidence)
    return Fraction(ranks, 2 * choice.rows) if ranks and choice.rows else Fraction(0)
