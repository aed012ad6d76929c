"""LOLOHA: many answers in many waves, at a loss that does not grow with the number of waves.

Each person draws one hash function, which maps answers to g buckets and never changes. For each
bucket a *permanent* report is drawn once, by randomized response with `odds_forever`, and
stored. Every wave adds a new randomized response on top. Only g different reports can ever be
stored. So for histories that change at the same times all waves together cost at most
g ln(odds_forever), instead of ln(odds_forever) for each different answer. Arcolezi, Pinzón,
Palamidessi & Gambs, "Frequency estimation of evolving data under local differential privacy",
2023.

The *times* of the changes are not hidden in this way. Reports that change with the waves show
that the answer changes, and the stored reports do not hide it: between any two histories there
is only the new noise of each wave. `loss_after` is the bound for that.

The second round is exact here. Slopes of randomized response over g answers multiply, and the
slope at odds t is c(t) = (t - 1) / (t + g - 1). So a second slope of c(odds) / c(odds_forever)
makes a single wave cost exactly ln(odds). (A formula that holds only for g = 2 would make it
cost less.) A single wave is then `OLH` with g buckets, and is counted as such.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import bernoulli, uniform_below
from deniable.exact.rationals import Number, whole
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.local.answers import read_answers
from deniable.mechanisms.local.olh import OLH
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss


@dataclass(frozen=True, slots=True, init=False)
class Loloha(OLH):
    """The design of a panel: `epsilon` for a single wave, `epsilon_forever` for a bucket.

    >>> design = Loloha(epsilon=1, epsilon_forever=2, categories=50, groups=4)
    >>> round(design.loss_once.epsilon(), 6), round(design.loss.epsilon(), 6)
    (1.0, 8.0)
    >>> round(float(design.second_slope), 6)
    0.488617
    """

    odds: Fraction
    categories: int
    odds_forever: Fraction
    groups: int

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        epsilon_forever: Number | None = None,
        odds_forever: Number | None = None,
        categories: int,
        groups: int = 2,
    ) -> None:
        OLH.__init__(self, epsilon=epsilon, odds=odds, categories=categories)
        names = "epsilon_forever", "odds_forever"
        forever = epsilon_or_odds.odds_of(epsilon_forever, odds_forever, names)
        object.__setattr__(self, "odds_forever", forever)
        object.__setattr__(self, "groups", whole(groups, "groups", least=2))
        if self.odds >= self.odds_forever:
            raise InvalidParameter(
                "`odds` must be below `odds_forever` (`epsilon` below `epsilon_forever`), so "
                f"that each wave adds fresh noise. Found odds {float(self.odds):g} and "
                f"odds_forever {float(self.odds_forever):g}."
            )

    @property
    def buckets(self) -> int:
        """The number of values of the hash."""
        return self.groups

    @property
    def loss(self) -> PureLoss:
        """What all waves together cost, if the times of changes are not secret.

        For a person whose answer never changes it is ln(odds_forever). If the times of changes
        are secret, use `loss_after`.
        """
        return PureLoss(odds=self.odds_forever).group(self.groups)

    def loss_after(self, waves: int) -> PureLoss:
        """What `waves` waves cost at most, if the times of changes are secret too.

        >>> design = Loloha(odds=2, odds_forever=3, categories=50)
        >>> [design.loss_after(waves) for waves in (1, 2, 3)]
        [PureLoss(odds=2), PureLoss(odds=25), PureLoss(odds=125)]
        """
        count, slope = whole(waves, "waves"), self.second_slope
        if count == 1:
            return self.loss_once
        return PureLoss(odds=1 + self.groups * slope / (1 - slope)).group(count)

    @property
    def loss_once(self) -> PureLoss:
        """What a single wave costs."""
        return PureLoss(odds=self.odds)

    @property
    def first_slope(self) -> Fraction:
        """The probability of keeping the bucket in the permanent report (else it is random)."""
        return (self.odds_forever - 1) / (self.odds_forever + self.groups - 1)

    @property
    def second_slope(self) -> Fraction:
        """The probability of keeping the permanent report in a wave (else it is random)."""
        return (self.odds - 1) / (self.odds + self.groups - 1) / self.first_slope

    def panel(self, people: int) -> "LolohaPanel":
        """Draws the hashes and permanent reports of people who answer in every wave.

        >>> design = Loloha(epsilon=1, epsilon_forever=2, categories=50)
        >>> design.panel(3).report([7, 8, 9]).shape
        (3, 3)
        """
        n, prime, g = whole(people, "people"), self.prime, self.groups
        keep = bernoulli(self.first_slope, n * g).reshape(n, g)
        blind = uniform_below(g, n * g).reshape(n, g)
        return LolohaPanel(
            self,
            uniform_below(prime, n),
            uniform_below(prime, n),
            np.where(keep, np.arange(g), blind),
        )


@dataclass(frozen=True, slots=True, eq=False)
class LolohaPanel:
    """The devices of people who answer in every wave."""

    design: Loloha
    a: NDArray[Any] = field(repr=False)
    b: NDArray[Any] = field(repr=False)
    permanent: NDArray[Any] = field(repr=False)  # for each person, one report per bucket

    def report(self, answers: Any) -> NDArray[Any]:
        """One wave: a row (a, b, bucket) per person, for `aggregate` of the design."""
        design = self.design
        truth = read_answers(answers, design.categories).numbers
        if truth.size != self.a.size:
            raise InvalidParameter(
                f"The panel has {self.a.size} people and needs one answer from each. Found "
                f"{truth.size} answers."
            )
        bucket = (self.a * truth + self.b) % design.prime * design.groups // design.prime
        first = self.permanent[np.arange(truth.size), bucket]
        keep = bernoulli(design.second_slope, truth.size)
        second = np.where(keep, first, uniform_below(design.groups, truth.size))
        return np.stack([self.a, self.b, second], axis=1)
