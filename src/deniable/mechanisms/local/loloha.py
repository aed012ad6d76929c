"""LOLOHA: many answers in many waves, at a loss that does not grow with their number.

Each person hashes answers into g buckets once and for ever. For each bucket the *permanent*
report is drawn once, by randomized response with `odds_forever`, and remembered; in every wave
a fresh randomized response goes on top. Only g different things can ever be remembered, so for
histories that change at the same times all waves together cost at most g ln(odds_forever),
instead of once a different answer. Arcolezi, Pinzón, Palamidessi & Gambs, "Frequency
estimation of evolving data under local differential privacy", 2023.

*When* an answer changed is another matter. A report that moves to and fro with the waves tells
an answer that does so from one that stays, and what is remembered does not hide it: between
any two histories only the fresh noise stands, once a wave. `loss_after` is that bound.

The second round is exact here. Slopes of randomized response over g answers multiply, and
the slope at odds t is c(t) = (t - 1) / (t + g - 1), so a second slope of
c(odds) / c(odds_forever) makes a single wave cost exactly ln(odds): not more, and not less
either, as when the second round is sized by a formula that holds for g = 2 only. A single
wave is then `OLH` with g buckets, and is counted as such.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import bernoulli, uniform_below
from deniable.exact.rationals import Number, whole
from deniable.mechanisms import strength
from deniable.mechanisms.local.answers import read
from deniable.mechanisms.local.olh import OLH
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
        object.__setattr__(
            self, "odds_forever", strength.odds_of(epsilon_forever, odds_forever)
        )
        object.__setattr__(self, "groups", whole(groups, "groups", least=2))
        if self.odds >= self.odds_forever:
            raise InvalidParameter(
                "A single wave must cost less than a remembered bucket, so that there is fresh "
                f"noise to add. Found odds {float(self.odds):g} a wave, and "
                f"{float(self.odds_forever):g} for ever."
            )

    @property
    def buckets(self) -> int:
        """The values of the hash."""
        return self.groups

    @property
    def loss(self) -> PureLoss:
        """What all waves together say about the answers, if it is no secret when they changed;
        for somebody whose answer stays it is ln(odds_forever). Else see `loss_after`."""
        return PureLoss(odds=self.odds_forever).group(self.groups)

    def loss_after(self, waves: int) -> PureLoss:
        """What so many waves cost at most, when the answers changed included.

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
        """How much likelier than chance the permanent report is the bucket itself."""
        return (self.odds_forever - 1) / (self.odds_forever + self.groups - 1)

    @property
    def second_slope(self) -> Fraction:
        """How much likelier than chance a wave's report is the permanent one."""
        return (self.odds - 1) / (self.odds + self.groups - 1) / self.first_slope

    def panel(self, people: int) -> "LolohaPanel":
        """People who stay: their hashes and permanent reports, drawn once.

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
    """Devices of people who are asked again and again."""

    design: Loloha
    a: NDArray[Any] = field(repr=False)
    b: NDArray[Any] = field(repr=False)
    permanent: NDArray[Any] = field(repr=False)  # for each person, one report a bucket

    def report(self, answers: Any) -> NDArray[Any]:
        """One wave: a row (a, b, bucket) a person, for `aggregate` of the design."""
        design = self.design
        truth = read(answers, design.categories).numbers
        if truth.size != self.a.size:
            raise InvalidParameter(
                f"The panel has {self.a.size} people, and each answers. Found {truth.size}."
            )
        bucket = (self.a * truth + self.b) % design.prime * design.groups // design.prime
        first = self.permanent[np.arange(truth.size), bucket]
        keep = bernoulli(design.second_slope, truth.size)
        second = np.where(keep, first, uniform_below(design.groups, truth.size))
        return np.stack([self.a, self.b, second], axis=1)
