"""How a copy's budget is split: fractions of one rho, which add up to at most 1.

Cutting numbers gets 1/20, the scorecard 1/50, and the method the rest: a third each for the
columns by themselves, the choice of pairs, and the pairs. What is not needed goes to the
method.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

CUTS, SCORECARD = Fraction(1, 20), Fraction(1, 50)
_BITS = 64


@dataclass(frozen=True, slots=True)
class CopyBudget:
    """The fractions of rho that each part of a copy gets, and how many measurements share it.

    >>> budget = CopyBudget.split(columns=15, cut=6, scored=True)
    >>> budget.one_ways, budget.whole
    (Fraction(31, 100), Fraction(1, 1))
    """

    columns: int
    cut: int  # how many columns are cut at quantiles
    cuts: Fraction
    scorecard: Fraction
    one_ways: Fraction
    choice: Fraction
    pairs: Fraction

    @classmethod
    def split(cls, *, columns: int, cut: int, scored: bool) -> "CopyBudget":
        """The fractions for a copy of that many columns, of which some are cut."""
        cuts = CUTS if cut else Fraction(0)
        scorecard = SCORECARD if scored else Fraction(0)
        rest = 1 - cuts - scorecard
        if columns < 2:  # there is no pair to choose or to measure
            return cls(columns, cut, cuts, scorecard, rest, Fraction(0), Fraction(0))
        third = rest / 3
        return cls(columns, cut, cuts, scorecard, third, third, third)

    @property
    def whole(self) -> Fraction:
        """The sum of all fractions."""
        return self.cuts + self.scorecard + self.one_ways + self.choice + self.pairs

    def cut_epsilon(self, rho: Fraction) -> Fraction:
        """The epsilon of one column's quantiles: a pure epsilon costs at most its square, over
        two, in rho."""
        return root_down(2 * rho * self.cuts / self.cut)

    def one_way_mu_squared(self, rho: Fraction) -> Fraction:
        """The noise of one column; Gaussian noise costs half of mu squared in rho."""
        return 2 * rho * self.one_ways / self.columns

    def choice_epsilon(self, rho: Fraction) -> Fraction:
        """The epsilon of one choice; it costs an eighth of its square in rho."""
        return root_down(8 * rho * self.choice / (self.columns - 1))

    def pair_mu_squared(self, rho: Fraction) -> Fraction:
        """The noise of one pair."""
        return 2 * rho * self.pairs / (self.columns - 1)

    def scorecard_mu_squared(self, rho: Fraction) -> Fraction:
        """The noise of the whole scorecard."""
        return 2 * rho * self.scorecard


def root_down(square: Fraction) -> Fraction:
    """A rational at most the square root, by less than a part in 2**40 of it.

    >>> root_down(Fraction(9, 4))
    Fraction(3, 2)
    """
    scaled = (square.numerator << 2 * _BITS) // square.denominator
    return Fraction(isqrt(scaled), 1 << _BITS)
