"""What margins promise, and warnings about numbers that are smaller than their own margins."""

import math

import pyarrow as pa
import pyarrow.compute as pc

from deniable.exact.rationals import decimal_text
from deniable.exact.text_formats import percent
from deniable.query.margins.chosen_rows import chooses_rows
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer

LARGE_EPSILON = 10


def margin_units(plan: Plan) -> dict[str, str]:
    """The unit of the margins of quantiles ("ranks") and modes ("rows"), by column."""
    return {output.name: output.margin_in for output in plan.outputs if output.margin_in}


def describe_margins(plan: Plan) -> str:
    """A sentence about what the margins of an answer promise.

    Rows that HAVING or LIMIT chose by noisy numbers have margins that hold for all groups
    together. Those of quantiles and modes do not.
    """
    level = percent(plan.confidence)
    if not chooses_rows(plan.having, plan.order, plan.limit):
        return f"Margins hold at {level} each."
    promise = (
        f"Margins hold at {level} for all groups of a column together, so also for the rows "
        "that were chosen."
    )
    if plan.choices:
        promise += " Those of quantiles and modes do not: they hold before rows are chosen."
    return promise


def explain_empty_answer(plan: Plan, answer: Answer) -> tuple[str, ...]:
    """Why an answer shows no group, and what would help."""
    if answer.table.num_rows or not plan.keys:
        return ()
    if plan.thresholding is None:
        return ("No group is shown: none passes HAVING.",)
    rule = plan.thresholding
    passes = "" if plan.having is None else ", and passes HAVING"
    who = "rows" if plan.unit is None else "units"
    return (
        f"No group is shown: one is shown if its noisy number of {who} is above "
        f"{rule.threshold:,}{passes}. What would help: coarser groups, a larger epsilon or "
        "delta, or declared keys, which need no such number.",
    )


def warn_of_large_epsilon(plan: Plan) -> tuple[str, ...]:
    """What an epsilon above 10 means, in odds."""
    if plan.epsilon <= LARGE_EPSILON:
        return ()
    odds = min(float(plan.epsilon), 700.0)
    return (
        f"Warning: epsilon {decimal_text(plan.epsilon)} hardly protects. An answer at this "
        f"price can multiply the odds of a guess about one person by {math.exp(odds):.3g}; at "
        "epsilon 1, by 2.72.",
    )


def warn_of_wide_margins(plan: Plan, answer: Answer) -> tuple[str, ...]:
    """A sentence about the numbers that are smaller than their margins, if there are any."""
    wide = total = 0
    for name, margin_name in answer.margins.items():
        if name in margin_units(plan):
            continue
        value, margin = answer.table[name], answer.table[margin_name]
        # Far from zero, the nearest double is enough.
        size, half = (column.cast(pa.float64(), safe=False) for column in (value, margin))
        larger = pc.greater(half, pc.abs(size))
        unknown = pc.and_(value.is_valid(), margin.is_null())
        total += len(value) - value.null_count
        wide += (pc.sum(larger).as_py() or 0) + (pc.sum(unknown).as_py() or 0)
    if not wide:
        return ()
    which = "the number" if total == 1 else f"{wide:,} of {total:,} numbers"
    return (
        f"Warning: the margin of {which} is larger than the value. A larger epsilon, fewer "
        "groups or more rows would help.",
    )
