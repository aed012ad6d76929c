"""Polynomials of a row's clipped integers, and how far one row moves several of them together.

A feature is a sum over rows: of 1, of a clipped integer x, of a polynomial of such integers, or
of 1 where a test holds. SUM and COUNT skip a row where their argument is NULL. So a feature of
one row is a sum of terms c * x**i * y**j, each of which counts only if certain columns are not
NULL (its presence).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations, product
from math import ceil, comb
from typing import Any, NamedTuple, TypeAlias

from deniable.errors import PlanRefused
from deniable.privacy.neighbors import Neighbors

Number: TypeAlias = int | Fraction
Interval: TypeAlias = tuple[Any, Any]
Monomial: TypeAlias = tuple[tuple[str, int], ...]  # (variable, power), sorted
Presence: TypeAlias = frozenset[str]
Polynomial: TypeAlias = Mapping[Monomial, Number]
Test: TypeAlias = tuple[str, Any, Any]  # a column, and the ends of its numbers or texts
_MOST_DEGREE, _MOST_OPTIONAL, _MOST_PLACES = 4, 4, 4096


@dataclass(frozen=True, slots=True)
class RowSum:
    """A sum over rows of a polynomial. `boxes` limits all variables that it was made from;
    `test` is set where it counts the rows in which a column lies in an interval."""

    terms: Mapping[tuple[Presence, Monomial], Number]
    boxes: Mapping[str, Interval] = field(default_factory=dict)
    test: Test | None = None

    @classmethod
    def constant(cls, value: Number) -> "RowSum":
        """The sum of a constant over all rows."""
        return cls({(frozenset(), ()): value} if value else {})

    @classmethod
    def variable(cls, name: str, low: Any, high: Any) -> "RowSum":
        """The sum of a column over all rows; `present` excludes those where it is NULL."""
        return cls({(frozenset(), ((name, 1),)): 1}, {name: (low, high)})

    def __add__(self, other: "RowSum") -> "RowSum":
        """The sum and another one over the same rows. A term keeps its presence."""
        keys = {**self.terms, **other.terms}
        terms = {key: self.terms.get(key, 0) + other.terms.get(key, 0) for key in keys}
        nonzero_terms = {key: factor for key, factor in terms.items() if factor}
        return RowSum(nonzero_terms, {**self.boxes, **other.boxes})

    def __sub__(self, other: "RowSum") -> "RowSum":
        """The difference of two sums over the same rows."""
        return self + RowSum.constant(-1) * other

    def __mul__(self, other: "RowSum") -> "RowSum":
        """The sum of the products of two row values: a product is NULL where either is."""
        terms: Any = Counter()
        for (own, a), (its, b) in product(self.terms.items(), other.terms.items()):
            powers = Counter(dict(own[1])) + Counter(dict(its[1]))
            terms[own[0] | its[0], tuple(sorted(powers.items()))] += a * b
        return RowSum({}) + RowSum(terms, {**self.boxes, **other.boxes})

    def present(self, names: Iterable[str]) -> "RowSum":
        """The same row value, where these columns are also not NULL."""
        more = frozenset(names)
        return RowSum({(own | more, m): by for (own, m), by in self.terms.items()}, self.boxes)


class Caps(NamedTuple):
    """How many groups one unit has, and how many rows in each, and in all of them together."""

    groups: int
    rows: int
    whole: int | None = None  # None: not known


class Joint(NamedTuple):
    """What one row adds to several features: each is in [low, high], and their absolute values
    add up to at most `total`."""

    total: Number
    low: Number
    high: Number

    def times(self, rows: int) -> "Joint":
        """The same for at most this many rows: zero rows add nothing."""
        return Joint(rows * self.total, min(0, rows * self.low), max(0, rows * self.high))


def joint(features: Iterable[RowSum]) -> Joint:
    """How far one row moves several features together.

    Proof. A row is one case: some of the optional columns are NULL, the others lie in their
    boxes. In a case each feature is a polynomial on the box. If all of them are non-negative
    there, the sum of their absolute values is the polynomial of their sum, and its largest
    value bounds it; terms that cancel in the sum cost nothing. If not, the triangle inequality
    adds the largest absolute values. The worst case counts.

    A row passes at most one of several tests that exclude one another in pairs, so it adds 1 to
    at most one of their counts; otherwise it may add 1 to each.
    """
    listed = list(features)
    tests = [feature.test for feature in listed if feature.test is not None]
    if tests and len(tests) == len(listed):
        pairs = combinations(tests, 2)
        apart = all(a[0] == b[0] and (a[2] < b[1] or b[2] < a[1]) for a, b in pairs)
        return Joint(1 if apart else len(tests), 0, 1)
    boxes = {name: box for feature in listed for name, box in feature.boxes.items()}
    optional = sorted({name for f in listed for presence, _ in f.terms for name in presence})
    if len(optional) > _MOST_OPTIONAL:
        raise PlanRefused("The features of one block use too many columns.")
    subsets = (combinations(optional, n) for n in range(len(optional) + 1))
    worst = Joint(0, 0, 0)
    for case in map(frozenset, chain.from_iterable(subsets)):
        ends = [bounds(_in_case([feature], case), boxes) for feature in listed]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        total = sum(max(-low, high) for low, high in ends)
        if low >= 0:
            total = bounds(_in_case(listed, case), boxes)[1]
        worst = Joint(max(worst.total, total), min(worst.low, low), max(worst.high, high))
    return worst


def products(features: list[RowSum]) -> tuple[Number, Number] | None:
    """Of features of columns that are never NULL: the square of the norm of one row's vector is
    at most the first number, and the inner product of two rows' vectors at least minus the
    second. None for other features.

    Proof. The square of the norm is the sum of the squares. An inner product is the sum of
    products of two numbers of one range, each at least the least product of two of its ends.
    If the features are all products of two out of some columns z, each ordered pair once, it is
    the sum of z_i z_j y_i y_j over all i and j, which is the square of the sum of z_i y_i.
    """
    if any(form.test or not form.terms or any(p for p, _ in form.terms) for form in features):
        return None
    ends = [bounds(_in_case([form], frozenset()), form.boxes) for form in features]
    least = sum(a * b if a < 0 < b else min(a * a, b * b) for a, b in ends)
    powers = [Counter(dict(monomial)) for form in features for _, monomial in form.terms]
    pairs = Counter(tuple(sorted(power.elements())) for power in powers)
    names = {name for pair in pairs for name in pair}
    ordered = Counter(tuple(sorted(pair)) for pair in product(names, repeat=2))
    plain = all(list(form.terms.values()) == [1] for form in features)
    squares = sum(max(-low, high) ** 2 for low, high in ends)
    return squares, 0 if plain and pairs == ordered else max(0, -least)


def movement(
    features: list[RowSum], reach: Joint, limits: Caps, neighbors: Neighbors, *, keyed: bool
) -> tuple[int, int]:
    """L1 and the square of L2 of what one unit moves, where one row adds what `reach` says to
    the features of its group.

    Proof. A unit adds a vector V to each of its groups: the sum of those of its n <= rows rows
    there, with |V|1 <= n * total and |V|2**2 <= n**2 * square. The n of all groups add up to at
    most s = min(groups * rows, whole), and their squares to at most rows * s. If it vanishes,
    these vectors vanish. If it is replaced, others W of n' rows come. |V - W|1 is at most
    (n + n') * total. |V - W|2**2 <= square * (n**2 + n'**2) + 2 * against * n * n', where the
    inner product of two rows' vectors is at least -against: 0 if no feature is negative, and
    never more than square. A single sum moves by its width, with 0 in it: by at most
    n * high - n' * low, or so with n and n' exchanged. Both are convex in (n, n'), so they lie
    below rows * (n + n') / 2 * apart, if apart is at least 2 * square and what they are for
    n = n' = 1, because they do at the corners of [0, rows]**2. The n + n' of all groups add up
    to at most 2 * s. Without keys there is one group, which has both.
    """
    groups, rows, whole = limits
    most, total = min(groups * rows, whole or groups * rows), ceil(reach.total)
    square, apart = total**2, total**2 * (2 if reach.low >= 0 else 4)
    width = ceil(max(reach.high, 0) - min(reach.low, 0))
    if (norms := products(features)) is not None:
        square, apart = min(square, ceil(norms[0])), min(apart, 2 * ceil(sum(norms)))
    if len(features) == 1:
        apart = max(width**2, 2 * square)
    if neighbors == "add-remove":
        return most * total, rows * most * square
    if len(features) == 1 and not keyed:
        return rows * width, (rows * width) ** 2
    return 2 * most * total, rows * most * apart


def _in_case(features: Iterable[RowSum], present: Presence) -> Polynomial:
    """The sum of features, where these columns are not NULL, as a polynomial."""
    polynomial: Any = Counter()
    for feature in features:
        for (presence, monomial), factor in feature.terms.items():
            polynomial[monomial] += factor if presence <= present else 0
    return {monomial: factor for monomial, factor in polynomial.items() if factor}


def bounds(polynomial: Polynomial, boxes: Mapping[str, Interval]) -> Interval:
    """The least and the largest Bernstein coefficient of a polynomial on a box.

    Proof. On a box the Bernstein polynomials of one degree are non-negative and add up to 1, so
    a polynomial is, at each point, a weighted mean of its Bernstein coefficients, and lies
    between the least and the largest of them. Integers in the box are among the points.

    >>> low, high = bounds({(): 9, (("x", 1),): -6, (("x", 2),): 1}, {"x": (0, 3)})
    >>> int(low), int(high)  # of (3 - x)**2
    (0, 9)
    """
    ends = [_least_and_largest(part, boxes) for part in _apart(polynomial)]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _apart(polynomial: Polynomial) -> list[Polynomial]:
    """Polynomials that add up to this one, and share no variable.

    Bernstein coefficients of f(x) + g(y) are sums of one of f and one of g, so the least of
    them is the sum of the two least ones: a sum of many columns is as quick as its columns.
    """
    parts: list[tuple[set[str], dict[Monomial, Number]]] = []
    for monomial, factor in polynomial.items():
        names, terms = {name for name, _ in monomial}, {monomial: factor}
        for part in [part for part in parts if part[0] & names]:
            parts.remove(part)
            names, terms = names | part[0], terms | part[1]
        parts.append((names, terms))
    return [terms for _, terms in parts]


def _least_and_largest(polynomial: Polynomial, boxes: Mapping[str, Interval]) -> Interval:
    degrees = Counter[str]()
    for monomial in polynomial:
        degrees |= Counter(dict(monomial))
    places = list(product(*(range(degree + 1) for degree in degrees.values())))
    if any(degree > _MOST_DEGREE for degree in degrees.values()) or len(places) > _MOST_PLACES:
        raise PlanRefused("A polynomial of a statement has too many terms.")
    coefficients = []
    for place in places:
        spots = [(name, n, i) for (name, n), i in zip(degrees.items(), place, strict=True)]
        terms = (by * _coefficient(dict(m), spots, boxes) for m, by in polynomial.items())
        coefficients.append(sum(terms))
    return min(coefficients), max(coefficients)


def _coefficient(
    powers: Mapping[str, int], spots: list[tuple[str, int, int]], boxes: Mapping[str, Interval]
) -> Number:
    """A Bernstein coefficient of a product of powers x**p on [a, b]: for each x, the mean of
    all products of p out of n numbers, of which i are b and the others a."""
    result = Fraction(1)
    for name, n, i in spots:
        (a, b), p = boxes[name], powers.get(name, 0)
        terms = (comb(i, k) * comb(n - i, p - k) * b**k * a ** (p - k) for k in range(p + 1))
        result *= Fraction(sum(terms), comb(n, p))
    return result
