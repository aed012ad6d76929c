"""`epsilon` or `odds` (e**epsilon): the two ways to state a pure loss."""

from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.rationals import Number, positive
from deniable.privacy import PureLoss

_BITS = 80


def read(
    epsilon: Number | None, odds: Number | None, names: tuple[str, str] = ("epsilon", "odds")
) -> tuple[Fraction | None, Fraction | None]:
    """Checks that exactly one is given, and makes it exact.

    >>> read(0.5, None)
    (Fraction(1, 2), None)
    """
    if (epsilon is None) == (odds is None):
        raise InvalidParameter(
            f"Give either `{names[0]}` or `{names[1]}`"
            f"{'' if epsilon is None else ', not both'}. Odds are e**epsilon. For example: "
            f"{names[0]}=0.5, or {names[1]}=3 for two fair coins."
        )
    if epsilon is not None:
        return positive(epsilon, names[0]), None
    assert odds is not None
    exact = positive(odds, names[1])
    if exact <= 1:
        raise InvalidParameter(
            f"`{names[1]}` must be above 1. Found {odds}. Odds are e**epsilon: at 1 the output "
            "would say nothing about the data."
        )
    return None, exact


def odds_of(
    epsilon: Number | None, odds: Number | None, names: tuple[str, str] = ("epsilon", "odds")
) -> Fraction:
    """Rational odds for a design that draws with integer weights.

    They are `odds`, or a rational just below e**epsilon, so that the loss is at most epsilon.

    >>> odds_of(None, 3)
    Fraction(3, 1)
    """
    exact_epsilon, exact_odds = read(epsilon, odds, names)
    if exact_odds is None:
        assert exact_epsilon is not None
        return odds_below(exact_epsilon)
    return exact_odds


def odds_below(epsilon: Fraction) -> Fraction:
    """A rational just below e**epsilon.

    The relative error is about 2**-66, or 2**-66 times epsilon if epsilon is small.

    >>> float(odds_below(Fraction(1)))
    2.718281828459045
    """
    bits = 66 + (1 / epsilon).__ceil__().bit_length()
    work = 2 * bits + 2 * epsilon.__ceil__()
    _, hi = enclosures.exp_neg(epsilon, work)
    odds = (1 << work + bits) // hi
    spare = max(0, odds.bit_length() - bits - 1)  # large odds need fewer digits
    return Fraction(odds >> spare << spare, 1 << bits)


def loss(epsilon: Fraction | None, odds: Fraction | None) -> PureLoss:
    """The loss, stated by the parameter that was given."""
    return PureLoss(odds=odds) if odds is not None else PureLoss(epsilon)


def rate(epsilon: Fraction | None, odds: Fraction | None) -> Fraction:
    """The rational epsilon that noise is drawn with: `epsilon`, or ln(odds) rounded down.

    Samplers take rationals, and ln(odds) is irrational. Rounding down (by less than a part in
    2**80) makes the noise slightly wider than needed, so the odds stay an upper bound.

    >>> float(rate(None, Fraction(3)))
    1.0986122886681098
    """
    if epsilon is not None:
        return epsilon
    assert odds is not None
    bits = _BITS + 8 + (1 / (odds - 1)).__ceil__().bit_length()
    lo, _ = enclosures.log(odds, bits)
    return Fraction(lo, 1 << bits)
