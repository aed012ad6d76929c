"""Reports in a window near the answer are more likely; the window moves with the answer.

An answer i (steps above `low`, 0 to m) makes each of the w = `window_size` reports from i s on
`odds` times as likely as each other of the m s + w reports. So the loss is `odds` for all s and
w, and the mean report is a straight line in i: it can be inverted without bias. Drawing takes
one exact coin: with probability (odds - 1) w / Z uniform in the window, else uniform on all
reports. The piecewise mechanism and the square wave are two choices of w.
"""

from abc import abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.exact import bernoulli, uniform_below
from deniable.exact.bits import BitSource
from deniable.exact.rationals import Number, rational, whole
from deniable.mechanisms.local.numbers.unbiased_mean import UnbiasedMean

FINE = 1024  # the least number of shifts from `low` to `high`


class MovingWindow(UnbiasedMean):
    """Subclasses define `_window_for`."""

    __slots__ = ()

    @abstractmethod
    def _window_for(self, span: int) -> int:
        """How many reports the window holds, if it moves by `span` from `low` to `high`."""

    def _layout(self) -> tuple[int, int, int]:
        """How far the window moves for one step, its size, and how many reports there are."""
        steps = self.steps
        shift = -(-FINE // steps)
        size = self._window_for(steps * shift)
        return shift, size, steps * shift + size

    @property
    def shift(self) -> int:
        """How many reports the window moves when the answer moves by one step."""
        return self._layout()[0]

    @property
    def window_size(self) -> int:
        """How many reports the window holds."""
        return self._layout()[1]

    @property
    def outputs(self) -> int:
        """How many different reports there are."""
        return self._layout()[2]

    @property
    def total(self) -> Fraction:
        """The sum of the weights: `odds` inside the window, 1 outside."""
        _, size, outputs = self._layout()
        return outputs + (self.odds - 1) * size

    def _probability(self, report: int, place: int) -> Fraction:
        shift, size, outputs = self._layout()
        inside = 0 <= report - place * shift < size
        return (self.odds if inside else 1) / (outputs + (self.odds - 1) * size)

    def _randomize(self, places: NDArray[np.int64], source: BitSource) -> NDArray[np.int64]:
        n = places.size
        near = bernoulli((self.odds - 1) * self.window_size / self.total, n, source=source)
        window = places * self.shift + uniform_below(self.window_size, n, source=source)
        return np.where(near, window, uniform_below(self.outputs, n, source=source))

    def line(self) -> tuple[Fraction, Fraction]:
        """Start and slope of the mean report, as a function of the answer's step."""
        n, w = self.outputs, self.window_size
        start = (
            Fraction(n * (n - 1), 2) + (self.odds - 1) * Fraction(w * (w - 1), 2)
        ) / self.total
        return start, (self.odds - 1) * w * self.shift / self.total

    def spread(self, place: Fraction) -> Fraction:
        """The variance of a report's number, for an answer `place` steps above `low`."""
        n, w, left = self.outputs, self.window_size, place * self.shift
        squares = Fraction((n - 1) * n * (2 * n - 1), 6)
        inside = w * left**2 + left * w * (w - 1) + Fraction((w - 1) * w * (2 * w - 1), 6)
        start, slope = self.line()
        mean = start + slope * place
        return (squares + (self.odds - 1) * inside) / self.total - mean**2

    def readings(self) -> NDArray[np.float64]:
        """The number that each report stands for; its mean is the true answer.

        >>> from deniable.mechanisms import Piecewise
        >>> readings = Piecewise(odds=3, low=0, high=1).readings()
        >>> round(float(readings[0] + readings[-1]), 9)
        1.0
        """
        start, slope = self.line()
        places = (np.arange(self.outputs) - float(start)) / float(slope)
        return np.asarray(float(self.low) + places * float(self.step))

    def variance(self, value: Number, *, respondents: int) -> float:
        """The variance of the unbiased mean, from the coins only, if all people have `value`.

        >>> from deniable.mechanisms import Piecewise
        >>> fine = Piecewise(epsilon=1, low=-1, high=1, step=Fraction(1, 1000))
        >>> round(fine.variance(0, respondents=1), 2), round(fine.variance(1, respondents=1), 2)
        (3.68, 5.22)
        """
        place = (rational(value, "value") - self.low) / self.step
        scale = self.step / self.line()[1]
        return float(self.spread(place) * scale**2 / whole(respondents, "respondents"))
