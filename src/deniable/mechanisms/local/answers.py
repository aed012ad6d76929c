"""Answers read as the numbers of their categories, and reports handed back in the same shape.

Nothing that is said about an answer quotes it: answers are private.
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

    def like(self, reports: NDArray[Any]) -> Any:
        """Reports, one for each answer, in the shape and kind that the answers had."""
        out = reports.astype(bool if self.boolean else np.int64).reshape(self.shape)
        return out if self.array else out.tolist()


def read(answers: Any, categories: int) -> Answers:
    """Answers, each of which must be one of the categories.

    >>> read([True, False], 2).numbers.tolist()
    [1, 0]
    """
    array, is_array = _as_array(answers)
    flat = array.ravel()
    if flat.size == 0:
        raise InvalidData("There are no answers. Give one or more.")
    if flat.dtype.kind not in "biu":
        types = set(map(type, flat))
        whole_numbers = all(issubclass(one, Integral) for one in types)
        booleans = [issubclass(one, bool | np.bool_) for one in types]
        if not (all(booleans) or (whole_numbers and not any(booleans))):
            raise InvalidData(
                "Answers must be all booleans, or all whole numbers. Turn text or floats "
                "into the numbers of their categories first."
            )
    if not ((flat >= 0) & (flat < categories)).all():
        raise InvalidData(
            f"Answers must be whole numbers from 0 to {categories - 1}, the "
            "numbers of the categories. Some are not."
        )
    boolean = flat.dtype.kind == "b" or isinstance(flat[0], bool | np.bool_)
    return Answers(flat.astype(np.int64), boolean, array.shape, is_array)


def reported(reports: Any) -> NDArray[Any]:
    """Reports as an array, refused where rows have unequal lengths.

    >>> reported([[0, 1], [1, 1]]).shape
    (2, 2)
    """
    try:
        return np.asarray(reports)
    except ValueError:
        raise InvalidData(
            "The rows of reports must have equal lengths. Some have not."
        ) from None


def _as_array(answers: Any) -> tuple[NDArray[Any], bool]:
    if isinstance(answers, np.ma.MaskedArray):
        raise InvalidData("Answers must not be masked: make a missing answer a category.")
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
