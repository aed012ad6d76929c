"""Exact rational functions of one open parameter, used as probabilities."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any

from deniable.audit.prove.polynomials import (
    Polynomial,
    Root,
    between,
    gcd,
    roots,
)
from deniable.errors import Unsupported
from deniable.exact.rationals import rational


@dataclass(frozen=True, slots=True)
class RationalFunction:
    """`top / bottom`, in lowest terms; the leading coefficient of `bottom` is 1.

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
            f"The program compares `{self.name}` with {other}, but `{self.name}` is open, so "
            "the result is not known. Prove the two cases separately, each with its own range "
            f"for `{self.name}`."
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
        """With whole coefficients; the first term of the bottom is positive."""
        scale = math.lcm(
            *(x.denominator for x in (*self.top.coefficients, *self.bottom.coefficients))
        )
        above = [int(x * scale) for x in self.top.coefficients]
        below = [int(x * scale) for x in self.bottom.coefficients]
        content = math.gcd(*above, *below)
        first = next(x for x in below if x)
        content = content if first > 0 else -content
        top = [x // content for x in above]
        bottom = [x // content for x in below]
        if bottom == [1]:
            return _write(top, self.name)
        return f"{_write_in_brackets(top, self.name)}/{_write_in_brackets(bottom, self.name)}"


def _write_in_brackets(coefficients: list[int], name: str) -> str:
    text = _write(coefficients, name)
    return f"({text})" if " " in text or "*" in text else text


def _write(coefficients: list[int], name: str) -> str:
    """`1 - p + 2*p^2`."""
    text = ""
    for power, coefficient in enumerate(coefficients):
        if coefficient == 0:
            continue
        size = abs(coefficient)
        letter = {0: "", 1: name}.get(power, f"{name}^{power}")
        term = str(size) if not letter else letter if size == 1 else f"{size}*{letter}"
        if not text:
            text = f"-{term}" if coefficient < 0 else term
        else:
            text += f" - {term}" if coefficient < 0 else f" + {term}"
    return text or "0"
