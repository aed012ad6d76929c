"""Which rows of two tables look alike: numbers are compared in nine digits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.release.asking.released_part import to_floats

Places = NDArray[np.int64]
_DIGITS = 9  # in which draw 0 repeats the answer


def match_rows(
    answer: "pa.Table", others: "pa.Table", columns: Sequence[int]
) -> tuple[Places, Places] | None:
    """Numbers of the rows of `others` and of the answer: rows that look alike in these columns
    have equal ones. None if a row of the answer is not among the others.

    >>> few, many = (pa.table({"k": k, "n": n}) for k, n in (("b", [2]), ("ab", [1.0, 2.0])))
    >>> few, many = (
    ...     t.set_column(0, "k", pa.array(k)) for t, k in ((few, ["b"]), (many, ["a", "b"]))
    ... )
    >>> own, wanted = match_rows(few, many, [0, 1])
    >>> (own == wanted).tolist()
    [False, True]
    """
    count = len(others)
    keys = np.zeros(count + len(answer), dtype=np.int64)
    for place in columns:
        own = _number_values([others.column(place), answer.column(place)])
        _, keys = np.unique(keys * (len(keys) + 1) + own, return_inverse=True)
    own, wanted = keys[:count], keys[count:]
    return (own, wanted) if np.isin(wanted, own).all() else None


def find_rows(
    answer: "pa.Table", others: "pa.Table"
) -> tuple[list[int], tuple[Places, Places] | None]:
    """The same by all columns; or by those alone whose values all occur among the others.

    >>> places, _ = find_rows(
    ...     pa.table({"k": [1], "v": [5]}), pa.table({"k": [1, 2], "v": [3, 4]})
    ... )
    >>> places
    [0]
    """
    places = list(range(answer.num_columns))
    if _are_the_same(answer, others, places):
        own = np.arange(len(answer))
        return places, (own, own)
    rows = match_rows(answer, others, places)
    if rows is None:
        places = [place for place in places if match_rows(answer, others, [place]) is not None]
        rows = match_rows(answer, others, places) if places else None
    return places, rows


def _are_the_same(answer: "pa.Table", others: "pa.Table", places: Sequence[int]) -> bool:
    """Whether the rows are the same, in the same order."""
    return len(answer) == len(others) and all(
        _are_equal(answer.column(place), others.column(place)) for place in places
    )


def _are_equal(column: "pa.ChunkedArray[Any]", other_column: "pa.ChunkedArray[Any]") -> bool:
    if _is_number(column.type) and _is_number(other_column.type):
        return bool(np.array_equal(to_floats(column), to_floats(other_column), equal_nan=True))
    return column.type == other_column.type and bool(column.equals(other_column))


def _number_values(columns: "list[pa.ChunkedArray[Any]]") -> Places:
    """A number for each value of both columns: values that look alike have the same one."""
    if all(_is_number(column.type) for column in columns):
        values = _shorten(np.concatenate([to_floats(column) for column in columns]))
        _, numbers = np.unique(values, return_inverse=True, equal_nan=True)
    else:
        texts = [str(value) for column in columns for value in column.to_pylist()]
        known: dict[str, int] = {}
        numbers = np.array(
            [known.setdefault(text, len(known)) for text in texts], dtype=np.int64
        )
    return np.asarray(numbers, dtype=np.int64)


def _shorten(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers with nine digits."""
    with np.errstate(all="ignore"):
        size = np.floor(np.log10(np.abs(values)))
        unit = 10.0 ** (size - (_DIGITS - 1))
        rounded = np.round(values / unit) * unit
    return np.where(np.isfinite(rounded), rounded, values) + 0.0


def _is_number(kind: "pa.DataType") -> bool:
    types = pa.types
    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))
