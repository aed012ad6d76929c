"""Epsilon or odds: the two ways to name the strength of a pure guarantee."""

from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.rationals import Number, positive
from deniable.privacy import PureLoss

_BITS = 80


def one_of(
    epsilon: Number | None, odds: Number | None
) -> tuple[Fraction | None, Fraction | None]:
    """Checks that exactly one is given, and makes it exact.

    >>> one_of(0.5, None)
    (Fraction(1, 2), None)
    """
    if (epsilon is None) == (odds is None):
        raise InvalidParameter(
            "Give either `epsilon` or `odds` (which is e**epsilon), and not both: "
            "for example epsilon=0.5, or odds=3 for two fair coins."
        )
    if epsilon is not None:
        return positive(epsilon, "epsilon"), None
    assert odds is not None
    exact = positive(odds, "odds")
    if exact <= 1:
        raise InvalidParameter(
            f"`odds` must be above 1. Found {odds}: odds are e**epsilon, and at 1 the output "
            "would say nothing about the data."
        )
    return None, exact


def odds_of(epsilon: Number | None, odds: Number | None) -> Fraction:
    """The rational odds of a design that draws with integer weights: `odds`, or a rational
    just below e**epsilon, so that the loss stays within epsilon.

    >>> odds_of(None, 3)
    Fraction(3, 1)
    """
    exact_epsilon, exact_odds = one_of(epsilon, odds)
    if exact_odds is None:
        assert exact_epsilon is not None
        return odds_below(exact_epsilon)
    return exact_odds


def odds_below(epsilon: Fraction) -> Fraction:
    """A rational below e**epsilon by about a part in 2**66 (of epsilon, if that is small).

    >>> float(odds_below(Fraction(1)))
    2.718281828459045
    """
    bits = 66 + (1 / epsilon).__ceil__().bit_length()
    work = 2 * bits + 2 * epsilon.__ceil__()
    _, hi = enclosures.exp_neg(epsilon, work)
    odds = (1 << work + bits) // hi
    spare = max(0, odds.bit_length() - bits - 1)  # digits that large odds need not have
    return Fraction(odds >> spare << spare, 1 << bits)


def loss(epsilon: Fraction | None, odds: Fraction | None) -> PureLoss:
    """The loss, stated as it was given."""
    return PureLoss(odds=odds) if odds is not None else PureLoss(epsilon)


def rate(epsilon: Fraction | None, odds: Fraction | None) -> Fraction:
    """The rational epsilon that noise is drawn with: `epsilon`, or ln(odds) rounded down.

    A logarithm of a rational is irrational, and samplers take rationals. Rounding down (by
    less than a part in 2**80) makes the noise a trifle wider than the odds demand, so that
    they stay an upper bound.

    >>> float(rate(None, Fraction(3)))
    1.0986122886681098
    """
    if epsilon is not None:
        return epsilon
    assert odds is not None
    bits = _BITS + 8 + (1 / (odds - 1)).__ceil__().bit_length()
    lo, _ = enclosures.log(odds, bits)
    return Fraction(lo, 1 << bits)
