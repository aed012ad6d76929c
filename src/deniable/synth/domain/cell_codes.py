"""The cell that each value of a copied column is in."""

from bisect import bisect_right
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.synth.domain.column_cells import ColumnCells


def code_values(cells: ColumnCells, values: Iterable[Any]) -> NDArray[np.int64]:
    """The number of each value's cell. Any other value counts as missing: the last cell.

    >>> from deniable.policy import Column
    >>> age = Column("age", bounds=(0, 100), step=1)
    >>> code_values(ColumnCells.of_cuts(age, [Fraction(18)], missing=True), [17, 18, None])
    array([0, 1, 2])
    """
    return np.array([_code(cells, value) for value in values], dtype=np.int64)


def _code(cells: ColumnCells, value: Any) -> int:
    last = cells.size - 1
    if value is None:
        return last
    if not cells.cuts:
        return cells.labels.index(value) if value in cells.labels else last
    if cells.kind == "date":  # the cuts of dates are the ends of all intervals
        place = bisect_right([str(cut) for cut in cells.cuts], value.isoformat()) - 1
        return place if 0 <= place < len(cells.cuts) - 1 else last
    return bisect_right([Fraction(cut) for cut in cells.cuts], Fraction(value))
