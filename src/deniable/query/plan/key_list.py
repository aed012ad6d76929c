"""Declared keys as arrays, so that a million of them are fast, and are converted only once.

A policy's tuple of keys stays the same object from query to query, so results are cached by
the identity of that object. Numbers are exact: 64-bit integers if they certainly fit, else
Python's own.
"""

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.query.plan.grid_steps import common_step
from deniable.query.plan.plan import GroupKey, KeyValue

MOST_WRITTEN = 100  # declared keys in the text of a statement; more are a relation beside it
MOST_JOINED = 50_000  # of those, keys that are looked up for every row; more, for every group
MOST_STEPS = 1 << 60  # the greatest distance from zero, in steps
_MOST_CACHED = 32


class KeyList:
    """A tuple of declared numbers, and what is computed from it."""

    def __init__(self, values: tuple[KeyValue, ...]) -> None:
        self.values = values
        self._steps: dict[Fraction, NDArray[np.int64] | None] = {}

    @cached_property
    def _whole(self) -> "NDArray[np.int64] | None":
        """The numbers, if all are integers of at most 62 bits."""
        if set(map(type, self.values)) != {int}:
            return None
        try:
            integers = np.array(self.values, dtype=np.int64)
        except OverflowError:
            return None
        return integers if _largest(integers) < 1 << 62 else None

    @cached_property
    def common_step(self) -> Fraction | None:
        """The step of the coarsest grid that contains all numbers; None if all are zero.

        >>> KeyList((4, 6)).common_step, KeyList((0.5, 2)).common_step
        (Fraction(2, 1), Fraction(1, 2))
        """
        if self._whole is not None:
            return Fraction(int(np.gcd.reduce(self._whole))) or None
        return common_step([Fraction(str(value)) for value in self.values])

    @cached_property
    def largest(self) -> Fraction:
        """The greatest distance from zero."""
        if self._whole is not None:
            return Fraction(_largest(self._whole))
        return max(abs(Fraction(str(value))) for value in self.values)

    def steps(self, step: Fraction) -> "NDArray[np.int64] | None":
        """The numbers as multiples of `step`, as an engine returns them; None if too large.

        >>> KeyList((0, 10, 20)).steps(Fraction(10)).tolist()
        [0, 1, 2]
        """
        if step not in self._steps:
            self._steps[step] = self._in_steps(step)
        return self._steps[step]

    def _in_steps(self, step: Fraction) -> "NDArray[np.int64] | None":
        up, down = step.denominator, step.numerator
        if self.largest * up > MOST_STEPS * down:
            return None
        if self._whole is None or int(self.largest) * up >= 1 << 62:
            places = [round(Fraction(str(value)) / step) for value in self.values]
            steps = np.array(places, dtype=np.int64)
        else:
            steps = self._whole if up == down else self._whole * up // down
        steps.flags.writeable = False
        return steps


def _largest(numbers: NDArray[np.int64]) -> int:
    return max(int(numbers.max()), -int(numbers.min()))


_cached: dict[int, KeyList] = {}


def key_list_of(values: tuple[KeyValue, ...]) -> KeyList:
    """The cached `KeyList` of this tuple. The cache keeps the tuple alive, so its id stays
    its own.

    >>> keys = (1, 2, 3)
    >>> key_list_of(keys) is key_list_of(keys)
    True
    """
    cached = _cached.get(id(values))
    if cached is None or cached.values is not values:
        for old in list(_cached)[: 1 + len(_cached) - _MOST_CACHED]:
            _cached.pop(old, None)
        cached = _cached[id(values)] = KeyList(values)
    return cached


def is_consecutive(numbers: NDArray[Any]) -> bool:
    """Whether each integer is the one before it plus 1.

    >>> is_consecutive(np.array([3, 4, 5])), is_consecutive(np.array([3, 5, 4]))
    (True, False)
    """
    return bool(numbers.size) and bool(np.all(np.diff(numbers) == 1))


def is_beside(key: GroupKey) -> bool:
    """Whether the declared values of a key are a relation beside the statement, and not in it.

    Consecutive numbers are written as a range, however many they are. Values with NULL among
    them are written, too: the kernel reads such a relation only where nothing stands beside it.

    >>> is_beside(GroupKey("n", "number", tuple(range(10**4)), Fraction(1)))
    False
    >>> is_beside(GroupKey("n", "number", tuple(range(0, 10**4, 2)), Fraction(1)))
    True
    """
    if len(key.known) <= MOST_WRITTEN or key.nulls:
        return False
    if key.kind != "number":
        return True
    steps = key_list_of(key.known).steps(key.step or Fraction(1))
    return steps is not None and not is_consecutive(steps)


def listed_values(key: GroupKey) -> list[str | int | bool]:
    """Declared values, without NULL, as the engine returns them: numbers in whole steps."""
    if key.kind == "number":
        steps = key_list_of(key.known).steps(key.step or Fraction(1))
        assert steps is not None  # `key_of` refuses keys that are too far from zero
        return list(steps.tolist())
    return [value if isinstance(value, bool) else str(value) for value in key.known]


def key_relation(place: int) -> str:
    """The name of the relation with the values of a plan's key, in its one column `key`. No
    table of a policy has such a name."""
    return f"(keys {place})"
