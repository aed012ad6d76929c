"""A profile as text for a terminal: a few lines for each column, with bars."""

import math
from fractions import Fraction

from deniable.exact.foreign_text import printable
from deniable.exact.text_formats import percent
from deniable.release.answer.formatting import format_with_margin
from deniable.release.profile.table_profile import ColumnProfile, NoisyNumber, TableProfile

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH = 24


def write_text(profile: TableProfile) -> str:
    """The profile as lines of text."""
    units = ""
    if profile.units is not None:
        units = f", {format_number(profile.units)} of {profile.unit}"
    lines = [f"{profile.table}: {format_number(profile.rows)} rows{units}", ""]
    for column in profile.columns:
        lines += [*column_lines(column), ""]
    lines.append(
        f"Margins hold at {percent(profile.confidence)} each. Cost: {profile.price}. "
        f"Left: {profile.remaining}."
    )
    return "\n".join(lines)


def column_lines(column: ColumnProfile) -> list[str]:
    """The lines about one column."""
    lines = [f"{column.name}  ({column.about})"]
    if column.missing is not None:
        lines.append(f"  missing   {format_number(column.missing)}")
    lines += [
        f"  {name_quantile(level):<9} {format_number(value)}"
        for level, value in column.quantiles
    ]
    if column.counts:
        largest = max([1.0, *(count.value or 0 for _, count in column.counts)])
        width = min(max(len(label) for label, _ in column.counts), 30)
        for label, count in column.counts:
            bar = draw_bar(count.value or 0, largest)
            lines.append(f"  {label:<{width}}  {bar} {format_number(count)}")
    return [printable(line) for line in (*lines, *(f"  {note}" for note in column.notes))]


def format_number(number: NoisyNumber) -> str:
    """A number and its margin.

    >>> format_number(NoisyNumber(1234, 6)), format_number(NoisyNumber(7.25, 31, "ranks"))
    ('1,234 ± 6', '7.25 (± 31 ranks)')
    """
    if number.value is None:
        return "unknown"
    if number.unit:
        margin_text = (
            "" if number.margin is None else f" (± {number.margin:,.0f} {number.unit})"
        )
        return f"{number.value:,g}{margin_text}"
    whole = float(number.value).is_integer() and float(number.margin or 0).is_integer()
    if whole:
        margin = None if number.margin is None else int(number.margin)
        return format_with_margin(int(number.value), margin)
    return format_with_margin(float(number.value), number.margin)


def name_quantile(level: Fraction) -> str:
    """The name of a quantile.

    >>> name_quantile(Fraction(1, 2)), name_quantile(Fraction(1, 20))
    ('median', '5 %')
    """
    return "median" if level == Fraction(1, 2) else percent(level)


def draw_bar(value: float, largest: float) -> str:
    """A bar of text, padded with spaces to a fixed width.

    >>> draw_bar(1, 4).rstrip(), len(draw_bar(0, 4))
    ('██████', 24)
    """
    eighths = math.floor(max(0.0, min(1.0, value / largest)) * _BAR_WIDTH * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(_BAR_WIDTH)
