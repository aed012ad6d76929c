"""The design of a counter: everything about it that is decided before the first event.

A counter is cut into segments. Each has measurements and noise of its own, and an event is in
one segment only.

- A known horizon: one segment.
- A window of W steps: segments of W steps. The last W steps are the end of one segment and the
  beginning of the next, so the noise grows with W and not with the horizon. The difference of
  two running sums over the whole horizon would have the noise of the horizon.
- No horizon: segments of n, 2 n, 4 n, ... steps. A person's events may lie in any of them, so
  it needs a tally of a person's whole life (see `Promise`); without one it is refused.
"""

from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole
from deniable.mechanisms.noise.gaussian import GaussianNoise
from deniable.mechanisms.noise.laplace import LaplaceNoise
from deniable.streams.counting.binary_tree import BinaryTree
from deniable.streams.counting.coefficients import LARGEST_SQUARE
from deniable.streams.counting.promise import Promise
from deniable.streams.counting.spread import Spread
from deniable.streams.counting.square_root import SquareRoot

FIRST_EPOCH = 64  # steps of the first segment of a counter without a horizon
_MOST_STEPS = 1 << 24
_ENDLESS = (1 << 64) - 1  # no segment is longer


@dataclass(frozen=True, slots=True)
class CounterDesign:
    """What is counted, for how long, and at which loss: `mu_squared`, or a pure `epsilon`.

    >>> year = CounterDesign(Promise(), horizon=365, mu_squared=Fraction(1))
    >>> round(year.worst_deviation, 2)
    2.94
    """

    promise: Promise
    horizon: int | None = None  # None: no end
    window: int | None = None  # None: all steps since the beginning
    mu_squared: Fraction | None = None
    epsilon: Fraction | None = None

    def __post_init__(self) -> None:
        if (self.mu_squared is None) == (self.epsilon is None):
            raise InvalidParameter("A counter has either `mu_squared` or `epsilon`.")
        for name in ("horizon", "window"):
            steps = getattr(self, name)
            if steps is not None and whole(steps, name) > _MOST_STEPS:
                raise InvalidParameter(
                    f"`{name}` may be at most {_MOST_STEPS} steps. Found {steps}. Count in "
                    "longer steps."
                )
        if self.horizon is None and self.promise.person is None:
            raise InvalidParameter(
                "A counter needs a `horizon`: how many steps it will run. Without one, it goes "
                "on in longer and longer epochs, and that is private only if a tally limits "
                "what each person adds in the whole life of the counter: give `per_person`. "
                "Nothing was spent."
            )

    def segment(self, number: int) -> SquareRoot | BinaryTree:
        """The measurements of a segment."""
        length = self.length(number)
        if self.mu_squared is not None:
            return SquareRoot(length, self.promise, self.mu_squared)
        assert self.epsilon is not None
        return BinaryTree(length, self.promise, self.epsilon)

    @property
    def widest_noise(self) -> GaussianNoise | LaplaceNoise:
        """Noise that is at least as wide as that of every segment which could come.

        >>> endless = CounterDesign(Promise(person="guest"), epsilon=Fraction(1))
        >>> endless.segment(0).noise.scale, endless.widest_noise.scale
        (Fraction(7, 1), Fraction(64, 1))
        """
        if self.window is not None or self.horizon is not None:
            return self.segment(0).noise
        if self.mu_squared is not None:
            return GaussianNoise(self.promise.l2_squared * LARGEST_SQUARE / self.mu_squared)
        assert self.epsilon is not None
        return BinaryTree(_ENDLESS, self.promise, self.epsilon).noise

    def length(self, number: int) -> int:
        """The number of steps of a segment."""
        if self.window is not None:
            return self.window
        return FIRST_EPOCH << number if self.horizon is None else self.horizon

    def place(self, step: int) -> tuple[int, int]:
        """The segment of a step, and its place there; steps and places are counted from 1 on.

        >>> CounterDesign(Promise(), horizon=9, window=3, epsilon=Fraction(1)).place(4)
        (1, 1)
        """
        number = 0
        if self.window is not None:
            number, rest = divmod(step - 1, self.window)
            return number, rest + 1
        while self.horizon is None and step > self.length(number):
            step -= self.length(number)
            number += 1
        return number, step

    def sum_spread(self, step: int) -> Spread:
        """The error of the sum (or of the window) that is shown after a step."""
        number, place = self.place(step)
        own = self.segment(number).spread(place)
        if self.window is not None:
            old = number and place < self.window
            return own + self._old(self.window - place) if old else own
        for before in range(number):
            own += self.segment(before).spread(self.length(before))
        return own

    def step_spread(self, step: int) -> Spread:
        """The error of the number of one step alone."""
        number, place = self.place(step)
        return self.segment(number).spread(place, 1)

    def _old(self, last: int) -> Spread:
        """The error of the last steps of a segment that is over."""
        length = self.length(0)
        return self.segment(0).spread(length, last)

    @property
    def places_between(self) -> int:
        """1 if the worst step of a window is looked for among all; else the steps between."""
        return max(1, (self.window or 1) // 1024)

    @property
    def worst_deviation(self) -> float:
        """The largest standard deviation at any step; without a horizon, in the first epoch."""
        return self.worst.deviation

    def worst_margin(self, confidence: Fraction) -> float:
        """The largest margin at any step; without a horizon, in the first epoch."""
        return self.worst.margin(confidence)

    @property
    def worst(self) -> Spread:
        """The law of the largest error at any step; without a horizon, in the first epoch."""
        length, design = self.length(0), self.segment(0)
        if self.window is not None and (self.horizon is None or self.horizon > self.window):
            places = range(length + 1, 2 * length + 1, self.places_between)
            spreads = [self.sum_spread(place) for place in places]
            return max(spreads, key=lambda spread: spread.variance)
        if isinstance(design, SquareRoot):
            return design.spread(length)
        worst = (1 << length.bit_length() - 1) - 1 or 1  # 2**h - 1 steps are h nodes
        return max(design.spread(worst), design.spread(length), key=lambda s: s.variance)
