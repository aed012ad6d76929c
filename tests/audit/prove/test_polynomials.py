"""Roots are found where they are, and nowhere else."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit.prove.polynomials import (
    Polynomial,
    Root,
    between,
    compare,
    gcd,
    roots,
)

FRACTIONS = st.fractions(-3, 3, max_denominator=12)
X = Polynomial.variable()


def product(points):
    return math.prod((X - point for point in points), start=Polynomial.of([1]))


@given(st.lists(FRACTIONS, min_size=1, max_size=6))
def test_rational_roots_come_out_exactly_and_once(points):
    zeros = roots(product(points) * 7, Fraction(-2), Fraction(2))
    assert [root.exact for root in zeros] == sorted({p for p in points if -2 < p < 2})


@given(st.lists(FRACTIONS, max_size=3), st.sampled_from([2, 3, 5, 7]))
def test_irrational_roots_are_enclosed(points, n):
    zeros = roots(product(points) * (X * X - n), Fraction(0), Fraction(3))
    surds = [root for root in zeros if root.exact is None]
    assert [float(root) for root in surds] == pytest.approx([math.sqrt(n)], abs=1e-15)
    assert [root.exact for root in zeros if root.exact is not None] == sorted(
        {p for p in points if 0 < p < 3}
    )
    assert sorted(zeros, key=float) == zeros


def test_a_polynomial_without_roots_has_none():
    assert roots(X * X + 1, Fraction(-9), Fraction(9)) == []
    assert roots(Polynomial.of([5]), Fraction(-9), Fraction(9)) == []


def test_the_same_root_of_different_polynomials_is_equal():
    [a] = roots(X * X - 2, Fraction(0), Fraction(2))
    [b] = roots((X * X - 2) * (X + 1) * (X - 5), Fraction(1), Fraction(3, 2))
    assert a == b
    assert compare(a, Root.at(Fraction(14142, 10000))) == 1
    assert compare(a, Root.at(Fraction(14143, 10000))) == -1
    assert hash(a) == hash(b)


def test_close_roots_are_told_apart():
    near = Fraction(1, 10**12)
    zeros = roots(product([Fraction(1, 3), Fraction(1, 3) + near]), Fraction(0), Fraction(1))
    assert [root.exact for root in zeros] == [Fraction(1, 3), Fraction(1, 3) + near]
    assert zeros[0].high < between(*zeros) < zeros[1].low


@given(st.lists(FRACTIONS, max_size=4), st.lists(FRACTIONS, max_size=4))
def test_a_common_divisor_has_the_common_roots(first, second):
    shared = gcd(product(first), product(second))
    left = list(second)
    common = [left.pop(left.index(p)) for p in first if p in left]
    assert shared == product(common).primitive()
    assert product(first).divide(product(common)) == (
        product(first).divide(product(common))[0],
        Polynomial(),
    )


def test_squares_are_taken_out():
    assert ((X - 1) * (X - 1) * (X + 2)).squarefree() == (X - 1) * (X + 2)
