"""Declared numbers as arrays: a million keys should not take long, and not twice.

A policy's tuple of keys stays the same object from query to query, so what is reckoned from it
is remembered for that very object. Numbers are exact throughout: 64-bit integers where they
surely fit, Python's own elsewhere.
"""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.query.plan.grid_steps import common_step
from deniable.query.plan.plan import KeyValue

FARTHEST = 1 << 60  # steps from zero
_REMEMBERED = 32


class Listing:
    """A tuple of declared numbers, and what follows from it."""

    def __init__(self, values: tuple[KeyValue, ...]) -> None:
        self.values = values
        self._steps: dict[Fraction, NDArray[np.int64] | None] = {}

    @cached_property
    def _whole(self) -> "NDArray[np.int64] | None":
        """The numbers, if all are integers of at most 62 bits."""
        if set(map(type, self.values)) != {int}:
            return None
        try:
            found = np.array(self.values, dtype=np.int64)
        except OverflowError:
            return None
        return found if _largest(found) < 1 << 62 else None

    @cached_property
    def common(self) -> Fraction | None:
        """The coarsest grid that holds all of them; None if all are zero.

        >>> Listing((4, 6)).common, Listing((0.5, 2)).common
        (Fraction(2, 1), Fraction(1, 2))
        """
        if self._whole is not None:
            return Fraction(int(np.gcd.reduce(self._whole))) or None
        return common_step([Fraction(str(one)) for one in self.values])

    @cached_property
    def largest(self) -> Fraction:
        """The greatest distance from zero."""
        if self._whole is not None:
            return Fraction(_largest(self._whole))
        return max(abs(Fraction(str(one))) for one in self.values)

    def steps(self, step: Fraction) -> "NDArray[np.int64] | None":
        """The numbers in whole steps, as an engine returns them; None if they are too far away.

        >>> Listing((0, 10, 20)).steps(Fraction(10)).tolist()
        [0, 1, 2]
        """
        if step not in self._steps:
            self._steps[step] = self._in_steps(step)
        return self._steps[step]

    def _in_steps(self, step: Fraction) -> "NDArray[np.int64] | None":
        up, down = step.denominator, step.numerator
        if self.largest * up > FARTHEST * down:
            return None
        if self._whole is None or int(self.largest) * up >= 1 << 62:
            places = [round(Fraction(str(one)) / step) for one in self.values]
            found = np.array(places, dtype=np.int64)
        else:
            found = self._whole if up == down else self._whole * up // down
        found.flags.writeable = False
        return found


def _largest(numbers: NDArray[np.int64]) -> int:
    return max(int(numbers.max()), -int(numbers.min()))


_known: dict[int, Listing] = {}


def listing(values: tuple[KeyValue, ...]) -> Listing:
    """What is known of these very values; they are kept, so that no other object takes their
    place in memory.

    >>> keys = (1, 2, 3)
    >>> listing(keys) is listing(keys)
    True
    """
    found = _known.get(id(values))
    if found is None or found.values is not values:
        for old in list(_known)[: 1 + len(_known) - _REMEMBERED]:
            _known.pop(old, None)
        found = _known[id(values)] = Listing(values)
    return found


def unbroken(numbers: NDArray[Any]) -> bool:
    """Whether whole numbers follow one another without a gap.

    >>> unbroken(np.array([3, 4, 5])), unbroken(np.array([3, 5, 4]))
    (True, False)
    """
    return bool(numbers.size) and bool(np.all(np.diff(numbers) == 1))
