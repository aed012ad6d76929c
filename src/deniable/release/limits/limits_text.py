"""Measured limits as text for a terminal: a table for each limit, and what is recommended."""

from deniable.exact.foreign_text import printable
from deniable.exact.rationals import decimal_text
from deniable.exact.suggestions import pluralize
from deniable.exact.text_formats import align_columns, percent
from deniable.release.limits.measured_limits import (
    QUANTILES,
    LimitChoice,
    MeasuredLimits,
    describe_quantile,
    describe_share,
)
from deniable.release.limits.unit_histograms import Share, UnitHistogram


def write_text(limits: MeasuredLimits) -> str:
    """The limits as lines of text."""
    lines = [describe_subject(limits), ""]
    for title, histogram, rows in sections(limits):
        heads = (title, "left out", f"a count at epsilon {decimal_text(limits.answer_epsilon)}")
        cells = [
            [str(limit), describe_share(share), f"± {margin:,}"]
            for limit, share, margin in rows
        ]
        lines += align_columns([heads, *cells], [True, False, True])
        lines += ["", quantile_line(limits, histogram), ""]
    lines += advice(limits)
    return "\n".join(printable(line) for line in lines)


def sections(
    limits: MeasuredLimits,
) -> "list[tuple[str, UnitHistogram, list[tuple[int, Share, int]]]]":
    """The tables: of groups, if there are keys, and of rows."""
    tables = []
    if limits.histograms.groups is not None:
        tables.append(("groups", limits.histograms.groups, limits.by_groups))
    title = "rows in each" if limits.by else "rows"
    return [*tables, (title, limits.histograms.rows, limits.by_rows)]


def describe_subject(limits: MeasuredLimits) -> str:
    """What was measured, in one line."""
    by = f", by {' and '.join(limits.by)}" if limits.by else ""
    keys = limits.histograms.keys
    count = f" ({pluralize(keys, 'group')})" if limits.by and keys is not None else ""
    return f"{limits.table}: what limits on one {limits.unit} leave out{by}{count}"


def quantile_line(limits: MeasuredLimits, histogram: UnitHistogram) -> str:
    """How many groups or rows most units have."""
    what = "groups" if histogram is limits.histograms.groups else "rows"
    who = limits.unit if what == "groups" or not limits.by else f"{limits.unit} and group"
    level = limits.histograms.confidence
    texts = {share: describe_quantile(histogram, share, level) for share in QUANTILES}
    parts = [
        f"the {percent(share)} quantile is {text}"
        if text.endswith("more")
        else f"{percent(share)} have at most {text}"
        for share, text in texts.items()
    ]
    return f"Of each {who}, the number of {what}: {', '.join(parts)}."


def advice(limits: MeasuredLimits) -> list[str]:
    """Today's limits, the recommended ones as lines of a policy, and the price."""
    best = limits.recommended
    groups = [f"  max_groups_per_unit = {best.groups}"] if limits.by else []
    caps = f"{limits.caps[1]} rows"
    if limits.by:
        caps = f"{limits.caps[0]} groups and {caps} in each"
    again = " (charged before)" if limits.repeated else ""
    return [
        f"Today's limit: {_describe(limits, limits.choice(*limits.current))}.",
        f"Recommended: {_describe(limits, best)}. In the policy:",
        *groups,
        f"  max_rows_per_unit_per_group = {best.rows}",
        "It has the least sum of noise and of rows left out, in an average group.",
        f"Nothing is known beyond the caps of {caps}. Intervals hold at "
        f"{percent(limits.histograms.confidence)} each.",
        f"Cost: {limits.price}{again}. Left: {limits.remaining}.",
    ]


def _describe(limits: MeasuredLimits, choice: LimitChoice) -> str:
    what = pluralize(choice.rows, "row")
    if limits.by:
        what = f"{pluralize(choice.groups, 'group')} with {what} in each"
    left_out = describe_share(choice.left_out)
    return f"{what}, which leaves out {left_out}; then a count is ± {choice.margin:,}"
