"""Tables of exact probabilities as text."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from deniable.exact.text_formats import align_columns

_ROWS = 24
_COLUMNS = 8


def format_odds(value: Fraction | float) -> str:
    """A short fraction as it is, any other number as a decimal.

    >>> format_odds(Fraction(7, 3)), format_odds(Fraction(4 * 10**30 + 1, 10**30))
    ('(7/3)', '4.00000...')
    """
    if isinstance(value, float) or len(str(value)) > 24:
        return f"{float(value):.6f}"[:7] + "..."
    return str(value) if value.denominator == 1 else f"({value})"


def sort_outputs(outputs: Iterable[Any]) -> tuple[Any, ...]:
    """Outputs in order: by value, or by their text if values cannot be compared.

    >>> sort_outputs([2, "a", 1])
    (1, 2, 'a')
    """
    listed = list(outputs)
    try:
        return tuple(sorted(listed))
    except TypeError:
        return tuple(sorted(listed, key=str))


def format_table(table: dict[Any, dict[Any, Fraction]], outputs: Sequence[Any]) -> list[str]:
    """The lines of the table of probabilities, at most as many as fit on a screen."""
    few = outputs[:_COLUMNS]
    more = ["..."] if len(outputs) > len(few) else []
    head = ["input", *(f"P({output})" for output in few), *more]
    rows = [
        [str(x), *(_cell(row.get(output, Fraction(0))) for output in few), *more]
        for x, row in list(table.items())[:_ROWS]
    ]
    numeric = [False, *(True for _ in head[1:])]
    lines = [f"  {line}" for line in align_columns([head, *rows], numeric)]
    return lines + ([f"  ... {len(table)} inputs"] if len(table) > _ROWS else [])


def _cell(p: Fraction) -> str:
    return str(p) if len(str(p)) <= 12 else f"{float(p):.6g}"
