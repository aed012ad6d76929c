"""The cells of a feature as a public list: the cell of any value, for predictions.

Values are read as the engine reads them: numbers are clipped to the bounds, then put between
cuts; NULL, and a value that is not declared, is in the last cell if there is one for them.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Label: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class FeatureCells:
    """The cells of one column. With `cuts`, cell i lies from cut i - 1 (inclusive) to cut i.

    >>> age = FeatureCells("age", "number", ("0 to 18", "18 to 99", None), (18.0,), (0.0, 99.0))
    >>> age.codes([17, 18, 200, None]).tolist()
    [0, 1, 1, 2]
    """

    name: str
    kind: str  # "number", "text", "boolean" or "date"
    labels: tuple[Label, ...]  # None: the cell of all other values
    cuts: tuple[float | str, ...] = ()
    bounds: tuple[float, float] | None = None

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.labels)

    @property
    def missing(self) -> bool:
        """Whether there is a cell for NULL and for values that are not declared."""
        return self.labels[-1] is None

    def codes(self, values: Iterable[Any]) -> NDArray[np.int64]:
        """The number of each value's cell; -1 for a value without one."""
        if self.cuts and self.kind == "number":
            return self._between_cuts(values)
        other = self.size - 1 if self.missing else -1
        if self.cuts:
            listed = [str(cut) for cut in self.cuts]
            texts = [None if _is_missing(value) else str(value)[:10] for value in values]
            places = [other if text is None else bisect_right(listed, text) for text in texts]
            return np.array(places, np.int64)
        known = {_plain(label): code for code, label in enumerate(self.labels)}
        known.pop(None, None)
        read = (_plain(self._clip(value)) for value in values)
        return np.array([known.get(value, other) for value in read], np.int64)

    def _clip(self, value: Any) -> Any:
        if _is_missing(value):
            return None
        if self.kind == "text":
            return str(value)
        if self.kind == "date":  # its labels are days, as texts
            return str(value)[:10]
        if self.bounds is None or isinstance(value, str | bool):
            return value
        return min(max(value, self.bounds[0]), self.bounds[1])

    def _between_cuts(self, values: Iterable[Any]) -> NDArray[np.int64]:
        numbers = np.array([_to_float(value) for value in values], np.float64)
        if self.bounds is not None:
            numbers = np.clip(numbers, *self.bounds)
        places = np.searchsorted(np.array(self.cuts, np.float64), numbers, side="right")
        other = self.size - 1 if self.missing else -1
        return np.where(np.isnan(numbers), other, places).astype(np.int64)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value)) or value is np.ma.masked


def _to_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _plain(value: Any) -> Any:
    """A value under which equal ones are found: whole floats as integers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return ("boolean", value)
    if _is_missing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def offsets_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """The first place of each feature, if their cells stand one after the other.

    >>> offsets_of([3, 2, 4])
    (0, 3, 5)
    """
    return tuple(int(place) for place in np.cumsum([0, *sizes])[:-1])
