"""Reads answers as numbers of categories, and returns reports in the same shape.

No error message quotes an answer, because answers are private.
"""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers as whole numbers on one axis. They are private, so they do not print."""

    numbers: NDArray[np.int64] = field(repr=False)
    boolean: bool
    shape: tuple[int, ...]
    array: bool

    def restore_shape(self, reports: NDArray[Any]) -> Any:
        """Gives the reports, one for each answer, the shape and kind of the answers."""
        out = reports.astype(bool if self.boolean else np.int64).reshape(self.shape)
        return out if self.array else out.tolist()


def read_answers(answers: Any, categories: int) -> Answers:
    """Reads answers; each must be one of the categories.

    >>> read_answers([True, False], 2).numbers.tolist()
    [1, 0]
    """
    array, is_array = _as_array(answers)
    flat = array.ravel()
    if flat.size == 0:
        raise InvalidData("There are no answers. Give one or more.")
    if flat.dtype.kind not in "biu":
        types = set(map(type, flat))
        whole_numbers = all(issubclass(kind, Integral) for kind in types)
        booleans = [issubclass(kind, bool | np.bool_) for kind in types]
        if not (all(booleans) or (whole_numbers and not any(booleans))):
            raise InvalidData(
                "Answers must be all booleans, or all whole numbers. Replace text or floats by "
                "the numbers of their categories first."
            )
    if not ((flat >= 0) & (flat < categories)).all():
        raise InvalidData(
            f"Answers must be numbers of categories, from 0 to {categories - 1}. Some are not."
        )
    boolean = flat.dtype.kind == "b" or isinstance(flat[0], bool | np.bool_)
    return Answers(flat.astype(np.int64), boolean, array.shape, is_array)


def read_reports(reports: Any) -> NDArray[Any]:
    """Reads reports as an array; rows must have equal lengths.

    >>> read_reports([[0, 1], [1, 1]]).shape
    (2, 2)
    """
    try:
        return np.asarray(reports)
    except ValueError:
        raise InvalidData("The rows of reports must have equal lengths.") from None


def _as_array(answers: Any) -> tuple[NDArray[Any], bool]:
    if isinstance(answers, np.ma.MaskedArray):
        raise InvalidData("Answers must not be masked. Make a missing answer a category.")
    if isinstance(answers, np.ndarray):
        return np.asarray(answers), True
    if isinstance(answers, str | bytes):
        raise InvalidData("Answers must be booleans or whole numbers, not text.")
    if hasattr(answers, "__array__") and not isinstance(answers, np.generic):
        return np.asarray(answers), True
    try:
        return np.array(answers, dtype=object), False
    except ValueError:
        raise InvalidData("The rows of a list must have equal lengths.") from None
