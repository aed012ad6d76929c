"""Curves are exact functions with exact breakpoints, not samples."""

import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit import prove
from deniable.audit.prove.rational_functions import RationalFunction
from deniable.errors import InvalidParameter, Unsupported

P = RationalFunction.variable("p")
HALF = Fraction(1, 2)
OPEN = {"p": (0, 1)}


def same_coin(x, flip, p):
    return x if flip(p) else flip(p)


def test_the_same_coin_twice():
    curve = prove(same_coin, neighbors=[(0, 1)], over=OPEN)
    assert [piece.odds for piece in curve.pieces] == [
        (2 - P) / (1 - P),
        (1 - P + P * P) / (1 - P) ** 2,
    ]
    assert [root.exact for root in curve.breakpoints] == [HALF]
    assert [piece.inputs for piece in curve.pieces] == [(1, 0), (0, 1)]
    assert curve.odds(HALF) == 3
    assert curve.epsilon(0.1) == pytest.approx(math.log(1.9 / 0.9), abs=1e-15)
    assert "for p from 0 to 1/2, worst at output 1" in str(curve)


PROGRAMS = {
    "same coin": same_coin,
    "warner": lambda x, flip, p: x if flip(p) else 1 - x,
    "biased": lambda x, flip, p: x if flip(p / 2) else flip(p),
    "three": lambda x, choose, p: (x + choose([1, p, p * p])) % 3,
    "majority": lambda x, flip, p: (
        int(x + flip(p) + flip(HALF) >= 2) if flip(HALF) else flip(p)
    ),
}


@cache
def curve_of(name):
    neighbors = [(0, 1, 2)] if name == "three" else [(0, 1)]
    return prove(PROGRAMS[name], neighbors=neighbors, over=OPEN)


@pytest.mark.parametrize("name", PROGRAMS)
@given(point=st.fractions(Fraction(1, 99), Fraction(98, 99), max_denominator=99))
def test_every_point_of_the_curve_is_a_proof(name, point):
    program, curve = PROGRAMS[name], curve_of(name)
    names = program.__code__.co_varnames[1 : program.__code__.co_argcount]

    def fixed(x, flip, choose):
        given = {"flip": flip, "choose": choose, "p": point}
        return program(x, **{parameter: given[parameter] for parameter in names})

    single = prove(fixed, neighbors=curve.pairs)
    assert curve.at(point).table == single.table
    assert curve.odds(point) == single.odds
    on = [piece for piece in curve.pieces if piece.low.low <= point <= piece.high.high]
    assert single.odds in [piece.odds(point) for piece in on]


def test_irrational_breakpoints_are_enclosed():
    def program(x, choose, p):
        return choose([p, 1 - p]) if x else choose([(1 + p * p) / 3, (2 - p * p) / 3])

    curve = prove(program, neighbors=[(0, 1)], over=OPEN)
    surds = [root for root in curve.breakpoints if root.exact is None]
    assert float(surds[0]) == pytest.approx((3 - math.sqrt(5)) / 2, abs=1e-12)
    for root in curve.breakpoints:  # left and right pieces meet there
        x = Fraction(float(root))
        left = next(piece for piece in curve.pieces if piece.high == root)
        right = next(piece for piece in curve.pieces if piece.low == root)
        assert float(left.odds(x)) == pytest.approx(float(right.odds(x)), rel=1e-9)


def test_a_pole_inside_the_range_is_named():
    def program(x, flip, p):
        return flip((p - HALF) ** 2) if x else flip(Fraction(1, 3))

    curve = prove(program, neighbors=[(0, 1)], over=OPEN)
    assert [root.exact for root in curve.poles] == [HALF]
    assert curve.odds(HALF) == math.inf
    assert "infinite at p = 1/2" in str(curve)


def test_what_is_never_private_says_so():
    curve = prove(lambda x, flip, p: x * flip(p), neighbors=[(0, 1)], over=OPEN)
    assert not curve.private
    assert str(curve).startswith("not private for any p from 0 to 1: output 1, inputs 1 and 0")


def test_branching_on_the_parameter_is_refused():
    with pytest.raises(Unsupported, match="is open"):
        prove(lambda x, flip, p: flip(p if p < HALF else 1), neighbors=[(0, 1)], over=OPEN)


@pytest.mark.parametrize(
    "over", [{"p": (0, 2)}, {"p": (-1, 1)}, {"p": (1, 0)}, {}, {"p": (0, 1), "q": (0, 1)}]
)
def test_bad_ranges_are_refused(over):
    with pytest.raises(InvalidParameter):
        prove(same_coin, neighbors=[(0, 1)], over=over)


def test_a_point_outside_is_refused():
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        prove(same_coin, neighbors=[(0, 1)], over=OPEN).at(1)
