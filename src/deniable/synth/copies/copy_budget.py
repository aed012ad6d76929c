"""How a copy's budget is split: fractions of one rho, which add up to at most 1.

Cutting numbers gets 1/20, the scorecard 1/50, and the method the rest. MST: a third each for
the columns by themselves, the choice of pairs, and the pairs. AIM: a third for the columns, and
of what is left a tenth for choices. What is not needed goes to the method.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

CUTS, SCORECARD = Fraction(1, 20), Fraction(1, 50)
AIM_COLUMNS, AIM_CHOICE = Fraction(1, 3), Fraction(1, 10)
ROUNDS_PER_COLUMN = 2  # of AIM, at most
_BITS = 64


@dataclass(frozen=True, slots=True)
class CopyBudget:
    """The fractions of rho that each part of a copy gets, and how many measurements share it.

    >>> budget = CopyBudget.split(columns=15, cut=6, scored=True)
    >>> budget.one_ways, budget.whole
    (Fraction(31, 100), Fraction(1, 1))
    """

    columns: int  # that are measured
    cut: int  # how many columns are cut at quantiles
    cuts: Fraction
    scorecard: Fraction
    one_ways: Fraction
    choice: Fraction
    pairs: Fraction

    @classmethod
    def split(
        cls, *, columns: int, cut: int, scored: bool, method: str = "mst"
    ) -> "CopyBudget":
        """The fractions for a copy of that many columns, of which some are cut."""
        cuts = CUTS if cut else Fraction(0)
        scorecard = SCORECARD if scored else Fraction(0)
        rest = 1 - cuts - scorecard
        if columns < 2:  # there is no pair to choose or to measure
            own = rest, Fraction(0), Fraction(0)
        elif columns == 2:  # there is nothing to choose
            own = rest / 2, Fraction(0), rest / 2
        elif method == "aim":
            left = rest * (1 - AIM_COLUMNS)
            own = rest * AIM_COLUMNS, left * AIM_CHOICE, left * (1 - AIM_CHOICE)
        else:
            own = rest / 3, rest / 3, rest / 3
        return cls(columns, cut, cuts, scorecard, *own)

    @property
    def whole(self) -> Fraction:
        """The sum of all fractions."""
        return self.cuts + self.scorecard + self.one_ways + self.choice + self.pairs

    @property
    def rounds(self) -> int:
        """The most rounds of AIM, each a choice and a measurement."""
        return ROUNDS_PER_COLUMN * self.columns

    def cut_epsilon(self, rho: Fraction) -> Fraction:
        """The epsilon of one column's quantiles: a pure epsilon costs at most its square, over
        two, in rho."""
        return root_down(2 * rho * self.cuts / self.cut)

    def one_way_mu_squared(self, rho: Fraction) -> Fraction:
        """The noise of one column; Gaussian noise costs half of mu squared in rho."""
        return 2 * rho * self.one_ways / self.columns

    def choice_epsilon(self, rho: Fraction) -> Fraction:
        """The epsilon of one choice of MST; it costs an eighth of its square in rho."""
        return root_down(8 * rho * self.choice / (self.columns - 1))

    def pair_mu_squared(self, rho: Fraction) -> Fraction:
        """The noise of one pair of MST."""
        return 2 * rho * self.pairs / (self.columns - 1)

    def scorecard_mu_squared(self, rho: Fraction) -> Fraction:
        """The noise of the whole scorecard."""
        return 2 * rho * self.scorecard


@dataclass(slots=True)
class RoundBudget:
    """What AIM has left for its rounds: every round's choice and measurement come off it.

    A round that teaches nothing makes the next ones dearer, and so more exact. The last round
    gets all that is left.

    >>> spent = RoundBudget(left=Fraction(1), each=Fraction(2, 5))
    >>> [spent.take(), spent.take()], spent.left
    ([Fraction(2, 5), Fraction(3, 5)], Fraction(0, 1))
    """

    left: Fraction
    each: Fraction

    @classmethod
    def of(cls, budget: CopyBudget, rho: Fraction) -> "RoundBudget":
        """For the rounds of one copy."""
        whole = rho * (budget.choice + budget.pairs)
        return cls(whole, whole / budget.rounds)

    @property
    def next(self) -> Fraction:
        """The rho of the next round."""
        return self.left if self.left < 2 * self.each else self.each

    def take(self) -> Fraction:
        """The rho of the next round, which is spent."""
        taken = self.next
        self.left -= taken
        return taken

    def make_dearer(self) -> None:
        """Half the noise in the rounds to come."""
        self.each *= 4


def root_down(square: Fraction) -> Fraction:
    """A rational at most the square root, by less than a part in 2**40 of it.

    >>> root_down(Fraction(9, 4))
    Fraction(3, 2)
    """
    scaled = (square.numerator << 2 * _BITS) // square.denominator
    return Fraction(isqrt(scaled), 1 << _BITS)
