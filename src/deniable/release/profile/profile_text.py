"""A profile in a terminal: a few lines a column, with bars."""

import math
from fractions import Fraction

from deniable.release.answer.wording import level, noted
from deniable.release.profile.profile import ColumnProfile, Noted, Profile

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDEST = 24


def text(profile: Profile) -> str:
    """The profile as lines of text."""
    whose = ""
    if profile.units is not None:
        whose = f", {said(profile.units)} of {profile.unit}"
    lines = [f"{profile.table}: {said(profile.rows)} rows{whose}", ""]
    for one in profile.columns:
        lines += [*column(one), ""]
    lines.append(
        f"Margins hold at {level(profile.confidence)} each. Cost: {profile.price}. "
        f"Left: {profile.remaining}."
    )
    return "\n".join(lines)


def column(one: ColumnProfile) -> list[str]:
    """The lines about one column."""
    lines = [f"{one.name}  ({one.about})"]
    if one.missing is not None:
        lines.append(f"  missing   {said(one.missing)}")
    if one.quantiles:
        lines += [f"  {place(at):<9} {said(value)}" for at, value in one.quantiles]
    if one.counts:
        most = max([1.0, *(n.value or 0 for _, n in one.counts)])
        wide = max(len(label) for label, _ in one.counts)
        for label, count in one.counts:
            lines.append(
                f"  {label:<{min(wide, 30)}}  {bar(count.value or 0, most)} {said(count)}"
            )
    return lines + [f"  {note}" for note in one.notes]


def said(number: Noted) -> str:
    """A number and its margin, in ranks where that is what is known.

    >>> said(Noted(1234, 6)), said(Noted(7.25, 31, "ranks"))
    ('1,234 ± 6', '7.25 (± 31 ranks)')
    """
    if number.value is None:
        return "unknown"
    if number.unit:
        close = "" if number.margin is None else f" (± {number.margin:,.0f} {number.unit})"
        return f"{number.value:,g}{close}"
    whole = float(number.value).is_integer() and float(number.margin or 0).is_integer()
    if whole:
        margin = None if number.margin is None else int(number.margin)
        return noted(int(number.value), margin)
    return noted(float(number.value), number.margin)


def place(at: Fraction) -> str:
    """A quantile's name.

    >>> place(Fraction(1, 2)), place(Fraction(1, 20))
    ('median', '5 %')
    """
    return "median" if at == Fraction(1, 2) else f"{100 * float(at):g} %"


def bar(value: float, most: float) -> str:
    """A bar of text, at most so wide, filled to its end with spaces.

    >>> bar(1, 4).rstrip(), len(bar(0, 4))
    ('██████', 24)
    """
    eighths = math.floor(max(0.0, min(1.0, value / most)) * _WIDEST * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(_WIDEST)
