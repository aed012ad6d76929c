"""A released table with intervals in place of margins: for `n` also `n_low` and `n_high`.

Programs that know nothing of margins can show or filter such columns. An answer brings the ends
of its intervals. In an answer of an older version, an interval is the value less and plus its
margin, and an end is rounded outwards where a double cannot hold it. Margins of quantiles and
modes are in ranks or rows: they are no distance from the value, so they stay margins, in a
column such as `median_margin_ranks`.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pyarrow as pa

from deniable.release.answer.answer_table import Answer

_LARGEST = 2**63 - 1


def interval_table(answer: Answer, units: Mapping[str, str]) -> "pa.Table":
    """The table of an answer, with the ends of intervals after each number.

    >>> table = pa.table({"ward": ["A"], "n": [40], "n_margin": [3]})
    >>> interval_table(Answer(table, {"n": "n_margin"}), {}).to_pylist()
    [{'ward': 'A', 'n': 40, 'n_low': 37, 'n_high': 43}]
    """
    used = {*answer.table.column_names}
    shown: dict[str, Any] = {}
    for name in answer.shown:
        shown[name] = answer.table[name]
        if name not in answer.margins:
            continue
        margin = answer.table[answer.margins[name]]
        beside = {end: answer.table[end] for end in answer.ends.get(name, ())}
        if name in units:
            beside = {_unused(f"{name}_margin_{units[name]}", used): margin} | beside
        if beside:
            shown |= beside
            continue
        for end, sign in (("low", -1), ("high", 1)):
            ends = [
                _end(value.as_py(), half.as_py(), sign)
                for value, half in zip(answer.table[name], margin, strict=True)
            ]
            column = _column(ends, answer.table[name].type, sign)
            shown[_unused(f"{name}_{end}", used)] = column
    return pa.table(shown)


def _end(value: float | None, margin: float | None, sign: int) -> Fraction | float | None:
    """One end of an interval, exactly; None without a margin."""
    if value is None or margin is None:
        return None
    if not (math.isfinite(value) and math.isfinite(margin)):
        return value if math.isnan(value) else sign * math.inf
    return Fraction(value) + sign * Fraction(margin)


def _column(ends: list[Fraction | float | None], kind: "pa.DataType", sign: int) -> "pa.Array":
    """Whole numbers if the values are and all ends are; otherwise doubles, rounded outwards."""
    whole = all(
        end is None or (isinstance(end, Fraction) and end.denominator == 1 and _fits(end))
        for end in ends
    )
    if pa.types.is_integer(kind) and whole:
        return pa.array([None if end is None else int(end) for end in ends], pa.int64())
    rounded = [None if end is None else _round_outwards(end, sign) for end in ends]
    return pa.array(rounded, pa.float64())


def _round_outwards(end: Fraction | float, sign: int) -> float:
    """The nearest double that does not lie inside of the interval.

    >>> _round_outwards(Fraction(1, 10), -1) < Fraction(1, 10) < _round_outwards(
    ...     Fraction(1, 10), 1
    ... )
    True
    """
    try:
        nearest = float(end)
    except OverflowError:
        return sign * math.inf
    inside = math.isfinite(nearest) and (Fraction(nearest) - Fraction(end)) * sign < 0
    return math.nextafter(nearest, sign * math.inf) if inside else nearest


def _fits(end: Fraction) -> bool:
    return -_LARGEST - 1 <= end <= _LARGEST


def _unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    used.add(name)
    return name
