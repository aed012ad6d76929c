"""The noisy maximum: add noise to every score, name the best, keep the noisy scores secret.

Fix the noise of all other candidates. A candidate wins if its own noise reaches some least
value, and between neighbours that value moves by at most one span (twice the sensitivity; once
if scores are monotone). So noise with P(Z >= z + span) >= exp(-epsilon) P(Z >= z) is
epsilon-private, for any number of candidates: Dwork & Roth 2014, section 3.3. Ties are broken
evenly, by an order drawn in advance; the argument holds for each order.

- Laplace noise is discrete here, on a public grid: all scores move by whole steps, so the
  argument holds step by step. The other two kinds are always more accurate.
- Exponential noise is equal to permute-and-flip (Ding, Kifer et al. 2021), and drawn as that.
- Gumbel noise is equal to the exponential mechanism, and drawn as that.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.exact import discrete_laplace, uniform_below
from deniable.exact.enclosures import Enclosure
from deniable.exact.least_integer import find_least
from deniable.exact.rationals import Number
from deniable.mechanisms import epsilon_or_odds
from deniable.mechanisms.choose.choice_by_score import ChoiceByScore
from deniable.mechanisms.choose.exponential import Exponential
from deniable.mechanisms.choose.laplace_probabilities import cumulative, laplace_probabilities
from deniable.mechanisms.choose.permute_and_flip import PermuteAndFlip
from deniable.mechanisms.choose.scores import Candidates, Scores, read_scores
from deniable.mechanisms.named_arguments import check_arguments
from deniable.privacy import PureLoss, RangeLoss

NoiseKind: TypeAlias = Literal["laplace", "exponential", "gumbel"]

_NODES = 32
_CHUNK = 1 << 18
_CAUTION = 1 - 1e-9


@dataclass(frozen=True, slots=True, init=False)
class NoisyMax(ChoiceByScore):
    """Names the candidate whose noisy score is the highest.

    >>> NoisyMax(epsilon=1).release({"no": 0, "yes": 5000})
    'yes'
    >>> NoisyMax(epsilon=1, noise="gumbel").loss
    RangeLoss(1)
    """

    noise: NoiseKind

    @check_arguments
    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        odds: Number | None = None,
        sensitivity: Number = 1,
        monotone: bool = False,
        step: Number | None = None,
        noise: NoiseKind = "exponential",
    ) -> None:
        super(NoisyMax, self).__init__(
            epsilon=epsilon, odds=odds, sensitivity=sensitivity, monotone=monotone, step=step
        )
        if noise not in get_args(NoiseKind):
            raise InvalidParameter(
                f"`noise` must be one of {', '.join(get_args(NoiseKind))}. Found {noise!r}."
            )
        object.__setattr__(self, "noise", noise)

    @property
    def loss(self) -> PureLoss | RangeLoss:
        """A pure loss; with Gumbel noise, a loss of bounded range.

        >>> NoisyMax(epsilon=0.5, noise="laplace").loss
        PureLoss(0.5)
        """
        twin = self._equivalent()
        return twin.loss if twin else epsilon_or_odds.loss(self.epsilon, self.odds)

    def _equivalent(self) -> Exponential | PermuteAndFlip | None:
        """The mechanism that has the same distribution; None for Laplace noise."""
        if self.noise == "laplace":
            return None
        kind = Exponential if self.noise == "gumbel" else PermuteAndFlip
        return kind(
            epsilon=self.epsilon,
            odds=self.odds,
            sensitivity=self.sensitivity,
            monotone=self.monotone,
            step=self.step,
        )

    def _read(self, scores: Candidates) -> Scores:
        public = self.noise == "laplace"
        return read_scores(
            scores, step=self.step, sensitivity=self.sensitivity, public_grid=public
        )

    def _scale(self, scores: Scores) -> Fraction:
        """The scale of Laplace noise in units; the span is a whole number of units."""
        span = math.ceil(scores.span(self.sensitivity, monotone=self.monotone))
        return span / epsilon_or_odds.rate(self.epsilon, self.odds)

    def _choose(self, scores: Scores) -> int:
        if twin := self._equivalent():
            return twin._choose(scores)
        noisy = discrete_laplace(self._scale(scores), scores.units.size) - scores.gaps_to_best()
        best = np.flatnonzero(noisy == noisy.max())
        return int(best[int(uniform_below(best.size, 1)[0])])

    def _probabilities(self, scores: Scores) -> NDArray[np.float64]:
        if twin := self._equivalent():
            return twin._probabilities(scores)
        gaps, place, counts = np.unique(
            scores.gaps_to_best().astype(np.float64), return_inverse=True, return_counts=True
        )
        return _winning_probabilities(gaps, counts, float(self._scale(scores)))[place]

    def _enclose(self, scores: Scores, index: int, bits: int) -> Enclosure:
        if twin := self._equivalent():
            return twin._enclose(scores, index, bits)
        gaps = [int(gap) for gap in scores.gaps_to_best()]
        return laplace_probabilities(self._scale(scores), bits).winning(gaps, index)

    def _least_gap(self, scores: Scores, candidates: int, miss: Fraction) -> int:
        if twin := self._equivalent():
            return twin._least_gap(scores, candidates, miss)
        scale = float(self._scale(scores))
        reach = math.ceil(45 * scale)
        best: Any = np.arange(-reach, reach + 1)
        weights = cumulative(best, scale) - cumulative(best - 1, scale)

        def enough(gap: int) -> bool:
            """All others are `gap` behind; a tie counts as lost. All inputs are public, so
            floats are safe."""
            loses = -np.expm1((candidates - 1) * np.log(cumulative(best + gap - 1, scale)))
            return bool(weights @ loses + 1e-14 <= float(miss) * _CAUTION)

        return find_least(enough)


def _winning_probabilities(
    gaps: NDArray[np.float64], counts: NDArray[np.int64], scale: float
) -> NDArray[np.float64]:
    """For each gap to the best, the probability that such a candidate has the highest score.

    This is a sum over that noisy score v. Breaking ties evenly is the same as adding a uniform
    fraction to every score: the others stay below v + y with probability
    P(below v) + y P(at v), integrated over y by Gauss-Legendre nodes.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    law = np.zeros(gaps.size)
    reach = math.ceil(45 * scale)
    chunk = max(1, _CHUNK // (_NODES * gaps.size))
    for start in range(-reach, reach + 1, chunk):
        values = np.arange(start, min(start + chunk, reach + 1), dtype=np.float64)[:, None]
        below = cumulative(values - 1 + gaps, scale)
        here = cumulative(values + gaps, scale) - below
        for node, weight in zip(nodes, weights, strict=True):
            with np.errstate(divide="ignore"):
                logs = np.log(below + here * (node + 1) / 2)
            rest = (logs @ counts)[:, None] - np.maximum(logs, -1e300)
            law += weight / 2 * (here * np.exp(rest)).sum(axis=0)
    return law
