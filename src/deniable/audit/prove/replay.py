"""One run of a program on chosen coins, with the exact probability of those coins."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from deniable.audit.prove.rational_functions import RationalFunction
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational, whole

Probability: TypeAlias = Any  # Fraction, or RationalFunction where a parameter is open
Script: TypeAlias = tuple[tuple[int, int], ...]  # of each draw: which outcome, of how many

COINS = ("flip", "uniform", "choose")


class TooManyDraws(BaseException):
    """Ends a run at its limit. An `except Exception` in the program does not catch it."""


class Probabilities:
    """Checks and orders probabilities that are plain rationals."""

    one: Probability = Fraction(1)

    def probability(self, p: Any) -> Probability:
        exact = rational(p, "p")
        if not 0 <= exact <= 1:
            raise InvalidParameter(f"`p` must be a probability, from 0 to 1. Found {p}.")
        return exact

    def weight(self, weight: Any) -> Probability:
        exact = rational(weight, "weights")
        if exact < 0:
            raise InvalidParameter(f"`weights` must not be negative. Found {weight}.")
        return exact

    def size(self, probability: Probability) -> Fraction:
        """Used only to decide which run comes first."""
        return probability  # type: ignore[no-any-return]


class OpenProbabilities(Probabilities):
    """Probabilities that are rational functions of a parameter between `low` and `high`."""

    def __init__(self, name: str, low: Fraction, high: Fraction) -> None:
        self.parameter = RationalFunction.variable(name)
        self.one = self.parameter * 0 + 1
        self.low, self.high = low, high
        self.sample = low + (high - low) * Fraction(5, 13)  # seldom a breakpoint
        self._checked: dict[RationalFunction, bool] = {}

    def probability(self, p: Any) -> RationalFunction:
        exact = self.weight(p)
        if not self._nonnegative(1 - exact):
            self._refuse(p)
        return exact

    def weight(self, weight: Any) -> RationalFunction:
        exact = (
            weight if isinstance(weight, RationalFunction) else self.one * rational(weight, "p")
        )
        if not self._nonnegative(exact):
            self._refuse(weight)
        return exact

    def _nonnegative(self, value: RationalFunction) -> bool:
        if value not in self._checked:
            self._checked[value] = value.nonnegative(self.low, self.high)
        return self._checked[value]

    def _refuse(self, p: Any) -> None:
        raise InvalidParameter(
            f"`{p}` is not a probability for every {self.parameter} from {self.low} to "
            f"{self.high}. Narrow the range."
        )

    def size(self, probability: RationalFunction) -> Fraction:
        return probability(self.sample)


class CoinReplay:
    """The coins of one run: first the outcomes of a script, then the most probable ones."""

    def __init__(self, script: Script, numbers: Probabilities, most_draws: int) -> None:
        self.taken = list(script)
        self.given = len(script)
        self.position = 0
        self.numbers = numbers
        self.most_draws = most_draws
        self.cut = False  # stays true even if the program caught `TooManyDraws`
        self.probability: Probability = numbers.one
        self.others: list[tuple[Probability, Script]] = []  # the outcomes that were not taken

    def flip(self, p: Number = Fraction(1, 2)) -> int:
        """1 with probability p, else 0."""
        heads = self.numbers.probability(p)
        return self._draw([1 - heads, heads])

    def uniform(self, n: int) -> int:
        """A whole number from 0 to n - 1, all equally probable."""
        count = whole(n, "n")
        return self._draw([self.numbers.one / count] * count)

    def choose(self, weights: Any) -> Any:
        """The index of a weight (or the key of a mapping), in proportion to the weights."""
        keys = list(weights) if isinstance(weights, Mapping) else None
        listed = list(weights.values()) if isinstance(weights, Mapping) else list(weights)
        exact = [self.numbers.weight(weight) for weight in listed]
        total = sum(exact, start=self.numbers.one * 0)
        if not total:
            raise InvalidParameter("`weights` must not all be zero: nothing could be chosen.")
        index = self._draw([weight / total for weight in exact])
        return index if keys is None else keys[index]

    def _draw(self, chances: list[Probability]) -> int:
        if self.position < self.given:
            index, options = self.taken[self.position]
            if options != len(chances):
                raise InvalidParameter(
                    "The program is not repeatable: with the same coins it asked for a draw "
                    f"among {len(chances)} outcomes, and before among {options}. It must keep "
                    "no state between calls and take all randomness from the coins."
                )
        else:
            if self.position >= self.most_draws:
                self.cut = True
                raise TooManyDraws
            index = max(range(len(chances)), key=lambda i: self.numbers.size(chances[i]))
            for other, chance in enumerate(chances):
                if other != index and chance:
                    path = (*self.taken, (other, len(chances)))
                    self.others.append((self.probability * chance, path))
            self.taken.append((index, len(chances)))
        self.position += 1
        self.probability = self.probability * chances[index]
        return index
