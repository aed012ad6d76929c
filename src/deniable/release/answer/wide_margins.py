"""Warnings about numbers that are smaller than their own margins."""

import pyarrow as pa
import pyarrow.compute as pc

from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer


def margin_units(plan: Plan) -> dict[str, str]:
    """The unit of the margins of quantiles ("ranks") and modes ("rows"), by column."""
    return {output.name: output.margin_in for output in plan.outputs if output.margin_in}


def warn_of_wide_margins(plan: Plan, answer: Answer) -> tuple[str, ...]:
    """A sentence about the numbers that are smaller than their margins, if there are any."""
    wide = total = 0
    for name, margin_name in answer.margins.items():
        if name in margin_units(plan):
            continue
        value, margin = answer.table[name], answer.table[margin_name]
        # Far from zero, the nearest double is enough.
        size, half = (one.cast(pa.float64(), safe=False) for one in (value, margin))
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
