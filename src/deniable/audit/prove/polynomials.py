"""Exact polynomials in one variable, and their roots.

Roots are isolated with Sturm's theorem: the number of distinct roots in (a, b] is the drop in
sign changes along the Sturm chain from a to b. Rational roots are found exactly, because their
denominator divides the leading coefficient. Other roots are intervals that can be narrowed as
far as a comparison needs.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

Scalar: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients from the constant term upwards, without trailing zeros.

    >>> p = Polynomial.variable()
    >>> ((p - 1) * (p + 2)).coefficients
    (Fraction(-2, 1), Fraction(1, 1), Fraction(1, 1))
    """

    coefficients: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, coefficients: Iterable[Scalar]) -> "Polynomial":
        exact = [Fraction(coefficient) for coefficient in coefficients]
        while exact and exact[-1] == 0:
            exact.pop()
        return cls(tuple(exact))

    @classmethod
    def variable(cls) -> "Polynomial":
        return cls.of([0, 1])

    @property
    def degree(self) -> int:
        """-1 for zero."""
        return len(self.coefficients) - 1

    @property
    def leading(self) -> Fraction:
        return self.coefficients[-1]

    def __call__(self, x: Fraction) -> Fraction:
        total = Fraction(0)
        for coefficient in reversed(self.coefficients):
            total = total * x + coefficient
        return total

    def __add__(self, other: "Polynomial | Scalar") -> "Polynomial":
        a, b = self.coefficients, _as_polynomial(other).coefficients
        if len(a) < len(b):
            a, b = b, a
        return Polynomial.of([x + y for x, y in zip(a, b, strict=False)] + list(a[len(b) :]))

    __radd__ = __add__

    def __neg__(self) -> "Polynomial":
        return Polynomial(tuple(-coefficient for coefficient in self.coefficients))

    def __sub__(self, other: "Polynomial | Scalar") -> "Polynomial":
        return self + -_as_polynomial(other)

    def __rsub__(self, other: Scalar) -> "Polynomial":
        return -self + other

    def __mul__(self, other: "Polynomial | Scalar") -> "Polynomial":
        a, b = self.coefficients, _as_polynomial(other).coefficients
        if not a or not b:
            return Polynomial()
        product = [Fraction(0)] * (len(a) + len(b) - 1)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                product[i + j] += x * y
        return Polynomial.of(product)

    __rmul__ = __mul__

    def divide(self, other: "Polynomial") -> "tuple[Polynomial, Polynomial]":
        """Quotient and remainder."""
        rest = list(self.coefficients)
        quotient = [Fraction(0)] * max(0, len(rest) - other.degree)
        while len(rest) > other.degree:
            factor = rest[-1] / other.leading
            shift = len(rest) - 1 - other.degree
            quotient[shift] = factor
            for i, coefficient in enumerate(other.coefficients):
                rest[shift + i] -= factor * coefficient
            rest.pop()
        return Polynomial.of(quotient), Polynomial.of(rest)

    def derivative(self) -> "Polynomial":
        return Polynomial.of([i * x for i, x in enumerate(self.coefficients)][1:])

    def primitive(self) -> "Polynomial":
        """The same roots and signs, with whole coefficients that share no factor."""
        if not self.coefficients:
            return self
        scale = math.lcm(*(x.denominator for x in self.coefficients))
        content = math.gcd(*(int(x * scale) for x in self.coefficients))
        return Polynomial(tuple(x * scale / content for x in self.coefficients))

    def squarefree(self) -> "Polynomial":
        """The same roots, each once."""
        shared = gcd(self, self.derivative())
        return self.divide(shared)[0].primitive() if shared.degree > 0 else self.primitive()


def _as_polynomial(value: Polynomial | Scalar) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.of([value])


def gcd(a: Polynomial, b: Polynomial) -> Polynomial:
    """The greatest common divisor, primitive and with a positive leading coefficient."""
    while b.coefficients:
        a, b = b, a.divide(b)[1].primitive()
    return a.primitive() if not a.coefficients or a.leading > 0 else -a.primitive()


@dataclass(frozen=True, slots=True)
class Root:
    """A number: exactly `low` if low == high, else the only root of `of` inside (low, high).

    >>> [root.exact for root in roots(Polynomial.of([-2, 0, 1]), Fraction(0), Fraction(2))]
    [None]
    >>> print(*roots(Polynomial.of([-1, 4]), Fraction(0), Fraction(2)))
    1/4
    """

    of: Polynomial
    low: Fraction
    high: Fraction

    @classmethod
    def at(cls, value: Fraction) -> "Root":
        """The rational number itself."""
        return cls(Polynomial.of([-value, 1]), value, value)

    @property
    def exact(self) -> Fraction | None:
        """The number, if it is rational."""
        return self.low if self.low == self.high else None

    def narrower(self) -> "Root":
        """The same root in half the interval."""
        if self.low == self.high:
            return self
        middle = (self.low + self.high) / 2
        if (self.of(self.low) > 0) != (self.of(middle) > 0):
            return Root(self.of, self.low, middle)
        return Root(self.of, middle, self.high)

    def __float__(self) -> float:
        root = self
        while root.high - root.low > Fraction(1, 1 << 60):
            root = root.narrower()
        return float((root.low + root.high) / 2)

    def __str__(self) -> str:
        return str(self.exact) if self.exact is not None else f"{float(self):.6f}..."

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and compare(self, other) == 0

    def __hash__(self) -> int:
        return hash(round(float(self), 9))

    def __lt__(self, other: "Root") -> bool:
        return compare(self, other) < 0


def compare(a: Root, b: Root) -> int:
    """-1, 0 or 1, exactly."""
    shared = gcd(a.of, b.of)
    while True:
        if a.high < b.low or (a.high == b.low and (a.low < a.high or b.low < b.high)):
            return -1
        if b.high < a.low or (b.high == a.low and (a.low < a.high or b.low < b.high)):
            return 1
        low, high = max(a.low, b.low), min(a.high, b.high)
        if low == high:
            if a.low == a.high and b.low == b.high:
                return 0
        elif shared.degree > 0 and _count_roots(shared, low, high) == 1:
            return 0
        a, b = a.narrower(), b.narrower()


def between(a: Root, b: Root) -> Fraction:
    """A rational strictly between two numbers; a must be the smaller one."""
    while a.high >= b.low:
        a, b = a.narrower(), b.narrower()
    return (a.high + b.low) / 2


def roots(polynomial: Polynomial, low: Fraction, high: Fraction) -> list[Root]:
    """All roots strictly between two rationals, in order, each once."""
    if polynomial.degree < 1:
        return []
    simple = polynomial.squarefree()
    chain = _sturm(simple)
    isolated: list[Root] = []
    todo = [(low, high)]
    while todo:
        a, b = todo.pop()
        count = _sign_changes(chain, a) - _sign_changes(chain, b) - (simple(b) == 0)
        if count == 0:
            continue
        if count == 1 and simple(a) != 0 and simple(b) != 0:
            isolated.append(_find_exact(Root(simple, a, b)))
            continue
        middle = (a + b) / 2
        if simple(middle) == 0:
            isolated.append(Root.at(middle))
        todo += [(a, middle), (middle, b)]
    return sorted(isolated)


def _find_exact(root: Root) -> Root:
    """The root exactly, if it is rational: its denominator divides the leading coefficient."""
    scale = abs(int(root.of.leading))
    while (root.high - root.low) * 2 * scale >= 1:
        root = root.narrower()
        for end in (root.low, root.high):
            if root.of(end) == 0:
                return Root.at(end)
    candidate = Fraction(round((root.low + root.high) / 2 * scale), scale)
    if root.low < candidate < root.high and root.of(candidate) == 0:
        return Root.at(candidate)
    return root


def _sturm(simple: Polynomial) -> list[Polynomial]:
    chain = [simple, simple.derivative().primitive()]
    while chain[-1].degree > 0:
        rest = -chain[-2].divide(chain[-1])[1]
        if not rest.coefficients:
            break
        chain.append(rest.primitive())
    return chain


def _sign_changes(chain: list[Polynomial], x: Fraction) -> int:
    signs = [value > 0 for polynomial in chain if (value := polynomial(x)) != 0]
    return sum(a != b for a, b in pairwise(signs))


def _count_roots(polynomial: Polynomial, low: Fraction, high: Fraction) -> int:
    """How many distinct roots lie strictly between."""
    chain = _sturm(polynomial.squarefree())
    return _sign_changes(chain, low) - _sign_changes(chain, high) - (polynomial(high) == 0)
