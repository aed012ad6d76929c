"""Numbers that are told apart by what they are, not only by how much.

In Python 1, 1.0 and True are equal, and so are 0.0 and -0.0; whoever reads an output still sees
which of them it is. A program that answers 1 to one input and True to another tells them apart,
so a proof must not count both as one output. `Told` is such a number: it equals numbers of its
own kind alone, and has the hash of its value, so that a table can be asked with plain ones
(where 1 is an output beside them, ask for `Told(True)` or `Told(1.0)`: plain ones are equal).
"""

from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from typing import Any

import numpy as np

Number = bool | float | complex | Fraction | Decimal


@total_ordering
class Told:
    """A number that is no plain integer, as an output.

    >>> table = {Told(True): "yes", 1: "one", Told(1.0): "a float"}
    >>> len(table), table[True], table[1], table[Told(1.0)]
    (3, 'yes', 'one', 'a float')
    >>> Told(0.0) == -0.0, Told(float("nan")) == Told(float("nan"))
    (False, True)
    """

    __slots__ = ("value",)

    def __init__(self, value: Number) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        plain = _plain(other)
        return type(plain) is type(self.value) and repr(plain) == repr(self.value)

    def __hash__(self) -> int:
        return hash("nan") if self.value != self.value else hash(self.value)

    def __lt__(self, other: object) -> Any:
        plain = _plain(other)
        try:
            if self.value == plain:
                return type(self.value).__name__ < type(plain).__name__
            return self.value < plain  # type: ignore[operator]
        except TypeError:
            return NotImplemented

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)


def told(value: Any) -> Any:
    """A number as an output; plain integers, and all that is no number, stay as they are.

    >>> told(3), told(True) == 1, told("a")
    (3, False, 'a')
    """
    return Told(value) if isinstance(value, Number) else value


def _plain(value: object) -> object:
    if isinstance(value, Told):
        return value.value
    return value.item() if isinstance(value, np.generic) else value
