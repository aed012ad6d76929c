"""Private bandits: choices that learn from rewards.

The rewards of a batch of pulls are added up, as whole numbers on a grid. When the batch ends,
its sum gets discrete Laplace noise, once, and is forgotten. All later choices follow from the
noisy sums, so they are post-processing. A reward is in one sum only and moves it by at most the
range of rewards: replacing one reward by another changes any course of choices in probability
by at most a factor e**epsilon. If a person has up to k rewards, the noise is k times as wide;
the k rewards move all sums together by at most k times the range, wherever they are.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NoReturn

from deniable.errors import InvalidParameter, Unsupported
from deniable.exact.rationals import Number, decimal_text, positive, rational, whole
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.privacy import PureLoss
from deniable.streams.bandits.strategies import Elimination, Episodes, Strategy
from deniable.streams.counters.tally import Person, person_key
from deniable.streams.counting.drawable import check_drawable
from deniable.streams.counting.promise import read_bounds

METHODS = ("episodes", "elimination")
_GRID = 1024  # steps of the range of rewards, unless a grid is given


class Bandit:
    """Chooses among `arms` and learns from rewards, each of which stays private.

    `bounds` are the least and the largest reward; others are cut. What is protected is one
    reward; with `per_person`, all rewards of a person, of which that many count in the bandit's
    life. `method` is "episodes" (private KL-UCB) or "elimination" (with a proven bound on the
    regret, see `regret_bound`). `horizon` is about how often it will choose.

    >>> bandit = Bandit(arms=5, epsilon=1)
    >>> for _ in range(100):
    ...     arm = bandit.choose()
    ...     bandit.reward(1 if arm == 3 else 0)
    >>> bandit.promise
    'one reward (it may be another one)'
    """

    def __init__(
        self,
        arms: int,
        *,
        epsilon: Number,
        bounds: tuple[Number, Number] = (0, 1),
        grid: Number | None = None,
        per_person: int | None = None,
        horizon: int = 10**6,
        method: str = "episodes",
    ) -> None:
        self.arms, self.epsilon = whole(arms, "arms", least=2), positive(epsilon, "epsilon")
        self._low, high = read_bounds(bounds)
        if self._low >= high:
            raise InvalidParameter(f"`bounds` must be (low, high), low < high. Found {bounds}.")
        width = high - self._low
        self._step = width / _GRID if grid is None else positive(grid, "grid")
        self.range = round(width / self._step)
        if self.range < 1:
            raise InvalidParameter(f"`grid` ({grid}) is wider than the bounds {bounds}.")
        self.per_person = None if per_person is None else whole(per_person, "per_person")
        self.noise = LaplaceNoise((self.per_person or 1) * self.range / self.epsilon)
        check_drawable(self.noise)
        self._strategy = make_strategy(method, self.arms, self.rate, whole(horizon, "horizon"))
        self._counted: dict[str, int] = {}
        self._sum, self._count = 0, 0
        self._begin()

    @property
    def rate(self) -> float:
        """The epsilon that one reward has: all of it, or a person's share."""
        return float(self.epsilon / (self.per_person or 1))

    @property
    def loss(self) -> PureLoss:
        """What all choices together cost, however many there are."""
        return PureLoss(self.epsilon)

    @property
    def promise(self) -> str:
        """What is protected."""
        if self.per_person is None:
            return "one reward (it may be another one)"
        return (
            f"all rewards of one person: at most {self.per_person} count (they may be others)"
        )

    def choose(self) -> int:
        """The arm to pull now, from 0 on. It stays the same until its reward is known."""
        self._chosen = True
        return self._batch.arm

    def reward(self, value: Number, *, person: Person | None = None) -> None:
        """The reward of the arm that was chosen.

        A bandit that protects persons must be told whose it is, by text or a whole number.
        Rewards of a person beyond `per_person` count as the middle of the bounds.
        """
        if not self._chosen:
            raise InvalidParameter("There is no choice to reward: call choose() first.")
        if (person is None) != (self.per_person is None):
            need = "Name the" if person is None else "It does not take a"
            raise InvalidParameter(f"This bandit protects {self.promise}. {need} `person`.")
        steps = round((rational(value, "value") - self._low) / self._step)
        whose = None if person is None else person_key(person)
        self._add(self._kept(max(0, min(self.range, steps)), whose))
        self._chosen = False

    def regret_bound(self, means: Sequence[Number], horizon: int) -> float:
        """How much reward is missed on average at most, if arms have these means.

        Only for "elimination". In all epochs together its means are good with probability
        1 - 1 / horizon, and then an arm falls in the first epoch whose width is below its gap.
        `dp.price.bandit_regret` says how much any private bandit misses.

        >>> bandit = Bandit(arms=2, epsilon=1, method="elimination")
        >>> round(bandit.regret_bound([0.75, 0.5], 10**6))
        12450
        """
        strategy, width = self._strategy, self.range * self._step
        if not isinstance(strategy, Elimination):
            raise Unsupported(
                'A bound is proven for method="elimination" only: no bound is claimed for '
                "episodes. simulate_bandit shows what to expect of them."
            )
        if len(means) != self.arms:
            raise InvalidParameter(
                f"`means` must have one number for each of the {self.arms} arms. Found "
                f"{len(means)}."
            )
        scaled_means = [float((rational(mean, "means") - self._low) / width) for mean in means]
        gaps = sorted(max(scaled_means) - mean for mean in scaled_means)
        most = sum(gap * strategy.most_pulls(gap) for gap in gaps if gap > 0)
        worst = gaps[-1] * whole(horizon, "horizon")
        return float(width) * min(worst, most + worst * strategy.mistake)

    def _kept(self, steps: int, person: str | None) -> int:
        """The reward, or the middle if the person's have all counted."""
        if self.per_person is None or person is None:
            return steps
        counted = self._counted.get(person, 0)
        if counted >= self.per_person:
            return self.range // 2
        self._counted[person] = counted + 1
        return steps

    def _add(self, steps: int) -> None:
        self._sum, self._count = self._sum + steps, self._count + 1
        if self._count == self._batch.pulls:
            self._strategy.record(self.noisy_mean(self._sum, self._count))
            self._begin()

    def noisy_mean(self, exact: int, pulls: int) -> float:
        """The mean of a batch with fresh noise, from 0 to 1: called once for each batch."""
        return (exact + int(self.noise.draw(1)[0])) / (pulls * self.range)

    def _begin(self) -> None:
        self._batch, self._chosen = self._strategy.next(), False
        self._sum = self._count = 0

    def __repr__(self) -> str:
        return (
            f"<bandit with {self.arms} arms at epsilon {decimal_text(Fraction(self.epsilon))}, "
            f"protects {self.promise}>"
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("A bandit cannot be pickled: it holds exact rewards.")


def make_strategy(method: str, arms: int, rate: float | None, horizon: int) -> Strategy:
    if method not in METHODS:
        raise InvalidParameter(
            f"`method` is {' or '.join(map(repr, METHODS))}. Found {method!r}."
        )
    if method == "elimination":
        return Elimination(arms, rate, mistake=1 / horizon)
    return Episodes(arms, rate)
