"""Exact rational functions of one open parameter: probabilities with a letter in them."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any

from deniable.audit.prove.polynomials import (
    Polynomial,
    between,
    gcd,
    roots,
)
from deniable.audit.prove.polynomials import Root as Root
from deniable.errors import Unsupported
from deniable.exact.rationals import rational


@dataclass(frozen=True, slots=True)
class RationalFunction:
    """`top / bottom`, in lowest terms, with a leading coefficient of 1 below.

    >>> p = RationalFunction.variable("p")
    >>> print(p * (1 - p) / (p * p), (2 - p) / (1 - p))
    (1 - p)/p (2 - p)/(1 - p)
    """

    top: Polynomial
    bottom: Polynomial
    name: str

    @classmethod
    def of(cls, top: Polynomial, bottom: Polynomial, name: str) -> "RationalFunction":
        shared = gcd(top, bottom)
        if shared.degree > 0:
            top, bottom = top.divide(shared)[0], bottom.divide(shared)[0]
        if not top.coefficients:
            bottom = Polynomial.of([1])
        scale = 1 / bottom.leading
        return cls(top * scale, bottom * scale, name)

    @classmethod
    def variable(cls, name: str) -> "RationalFunction":
        return cls(Polynomial.variable(), Polynomial.of([1]), name)

    def _lift(self, other: Any) -> "RationalFunction | None":
        if isinstance(other, RationalFunction):
            return other
        if isinstance(other, Real | Decimal):
            number = rational(other)  # type: ignore[arg-type]
            return RationalFunction.of(Polynomial.of([number]), Polynomial.of([1]), self.name)
        return None

    def __add__(self, other: Any) -> "RationalFunction":
        b = self._lift(other)
        if b is None:
            return NotImplemented
        return RationalFunction.of(
            self.top * b.bottom + b.top * self.bottom, self.bottom * b.bottom, self.name
        )

    __radd__ = __add__

    def __neg__(self) -> "RationalFunction":
        return RationalFunction(-self.top, self.bottom, self.name)

    def __sub__(self, other: Any) -> "RationalFunction":
        b = self._lift(other)
        return NotImplemented if b is None else self + -b

    def __rsub__(self, other: Any) -> "RationalFunction":
        b = self._lift(other)
        return NotImplemented if b is None else b + -self

    def __mul__(self, other: Any) -> "RationalFunction":
        b = self._lift(other)
        if b is None:
            return NotImplemented
        return RationalFunction.of(self.top * b.top, self.bottom * b.bottom, self.name)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "RationalFunction":
        b = self._lift(other)
        if b is None:
            return NotImplemented
        if not b.top.coefficients:
            raise ZeroDivisionError("division by a rational function that is zero")
        return RationalFunction.of(self.top * b.bottom, self.bottom * b.top, self.name)

    def __rtruediv__(self, other: Any) -> "RationalFunction":
        b = self._lift(other)
        return NotImplemented if b is None else b / self

    def __pow__(self, power: int) -> "RationalFunction":
        if not isinstance(power, int) or power < 0:
            return NotImplemented
        return math.prod([self] * power, start=self * 0 + 1)

    def __call__(self, x: Fraction) -> Fraction:
        """The value at x, which must not be a pole."""
        return self.top(x) / self.bottom(x)

    def __eq__(self, other: object) -> bool:
        b = self._lift(other)
        return b is not None and (self.top, self.bottom) == (b.top, b.bottom)

    def __hash__(self) -> int:
        return hash((self.top, self.bottom))

    def _undecided(self, other: object) -> bool:
        raise Unsupported(
            f"The program compares `{self.name}` with {other}, but `{self.name}` was left "
            f"open: which way it goes depends on it. Prove the two cases apart, with a range "
            f"for `{self.name}` on either side."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _undecided

    def __bool__(self) -> bool:
        return bool(self.top.coefficients)

    def nonnegative(self, low: Fraction, high: Fraction) -> bool:
        """Whether it is finite and at least 0 everywhere strictly between two rationals."""
        if roots(self.bottom, low, high):
            return False
        ends = [Root.at(low), *roots(self.top, low, high), Root.at(high)]
        return all(self(between(a, b)) >= 0 for a, b in pairwise(ends))

    def __str__(self) -> str:
        """Whole coefficients, and a bottom that starts with a plus."""
        scale = math.lcm(
            *(one.denominator for one in (*self.top.coefficients, *self.bottom.coefficients))
        )
        whole = [int(one * scale) for one in self.top.coefficients]
        below = [int(one * scale) for one in self.bottom.coefficients]
        content = math.gcd(*whole, *below)
        first = next(one for one in below if one)
        content = content if first > 0 else -content
        top = [one // content for one in whole]
        bottom = [one // content for one in below]
        if bottom == [1]:
            return _written(top, self.name)
        return f"{_bracketed(top, self.name)}/{_bracketed(bottom, self.name)}"


def _bracketed(coefficients: list[int], name: str) -> str:
    text = _written(coefficients, name)
    return f"({text})" if " " in text or "*" in text else text


def _written(coefficients: list[int], name: str) -> str:
    """`1 - p + 2*p^2`."""
    text = ""
    for power, one in enumerate(coefficients):
        if one == 0:
            continue
        size = abs(one)
        letter = {0: "", 1: name}.get(power, f"{name}^{power}")
        term = str(size) if not letter else letter if size == 1 else f"{size}*{letter}"
        if not text:
            text = f"-{term}" if one < 0 else term
        else:
            text += f" - {term}" if one < 0 else f" + {term}"
    return text or "0"
