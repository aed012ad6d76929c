"""The ends of intervals in a release, compared with its numbers, its margins and its plan.

- The farther end is one margin away; without a margin, an end is not known. If the margin
  depends only on the noise, both ends are one margin away.
- One end of MIN and of MAX is a bound, and the other is the number itself.
"""

from collections.abc import Iterator
from typing import Any

from deniable.mechanisms import QuantileIntervals
from deniable.query.plan.plan import Chosen, Output, Plan
from deniable.release.answer.answer_table import Answer, column_names
from deniable.release.certificate.margin_checks import TOLERANCE, constant_margin

_ROUNDING = 1e-9  # of a value, in the sum of a value and its margin


def wrong_ends(plan: Plan, answer: Answer) -> Iterator[tuple[str, object, object]]:
    """Impossible ends in the rows: the column, what is stated, and what is right."""
    rows = answer.table.to_pylist()
    for output, (name, _, ends) in zip(plan.outputs, column_names(plan), strict=True):
        if ends is None or name not in answer.ends:
            continue
        if missing := {*ends} - {*answer.table.column_names}:
            yield min(missing), None, "a column"
            return
        symmetric = constant_margin(plan, output) is not None
        bound = _bound_beyond(plan, output)
        for row in rows:
            value, margin = row[name], row[answer.margins[name]]
            low, high = (row[end] for end in ends)
            if bound is not None:
                right_ends = sorted((bound, value))
                pairs = zip(ends, (low, high), right_ends, strict=True)
                yield from (claim for claim in pairs if claim[1] != claim[2])
            elif value is None or output.margin_in:
                continue
            elif margin is None:
                if None not in (low, high):
                    yield answer.margins[name], None, max(high - value, value - low)
            elif not _ends_fit(value, margin, low, high, symmetric=symmetric):
                yield ends[1], high, value + margin


def _bound_beyond(plan: Plan, output: Output) -> int | float | None:
    """The bound that is one end of the interval of MIN or MAX; None for other outputs."""
    if not isinstance(output.node, Chosen):
        return None
    choice = plan.choices[output.node.choice]
    mechanism = choice.mechanism
    if not isinstance(mechanism, QuantileIntervals) or not mechanism.brackets:
        return None
    level = mechanism.quantiles[choice.names.index(output.node.name)]
    ends = {0: 0, 1: mechanism.grid.size - 1}
    return mechanism.grid.value(ends[int(level)]) if level in ends else None


def _ends_fit(value: Any, margin: Any, low: Any, high: Any, *, symmetric: bool) -> bool:
    """Whether an interval contains the value and its farther end is one margin away.

    >>> _ends_fit(5, 2, 4, 7, symmetric=False), _ends_fit(5, 2, 4, 7, symmetric=True)
    (True, False)
    """
    if low is None or high is None:
        return False
    near, far = sorted((value - low, high - value))
    slack = TOLERANCE * margin + _ROUNDING * abs(value)
    fits = abs(far - margin) <= slack and near >= (margin - slack if symmetric else -slack)
    return bool(fits)
