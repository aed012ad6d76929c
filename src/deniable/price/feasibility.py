"""What is impossible for any private method, biased ones included.

A method that gives a proportion within `margin` at `confidence`, whatever the data, can
distinguish two tables whose proportions differ by more than twice the margin. Take two tables
that differ in k = floor(2 margin n) + 1 records. The answer falls into the interval of the
first table with probability at least c if the data are the first table, and at most 1 - c if
they are the second. Privacy requires c <= e**(k epsilon) (1 - c), so c is at most
e**(k epsilon) / (1 + e**(k epsilon)). Nothing is assumed about the method: this is Le Cam's
two-point argument at one pair of tables.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable.exact.rationals import Number, positive, whole
from deniable.exact.text_formats import percent, percent_down, percent_up
from deniable.mechanisms import Laplace
from deniable.price.survey_sizes import inside
from deniable.privacy import Neighbors, neighboring
from deniable.privacy.arithmetic import floats

_LARGEST = 10**4  # the search for an epsilon ends here


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Whether a proportion of n records can be given within a margin, and what it takes.

    `limit` is the highest confidence that any method can have, `reached` the confidence of
    Laplace noise. Every method needs at least `least_n` and `least_epsilon`; with Laplace
    noise, `enough_n` or `enough_epsilon` is enough.

    >>> print(proportion(margin=0.01, n=400, epsilon=0.1))
    impossible: at epsilon 0.1 no method gives a proportion of 400 records within 0.01
    at 95 % confidence. Tables that differ in 9 records need different answers, and no private
    method can distinguish them with more than 71.1 % confidence.
    Enough: 3000 records (fewer than 1450 never are), or epsilon 0.6541 (less than 0.3271
    never is).
    """

    margin: float
    n: int
    epsilon: float
    confidence: float
    changes: int
    limit: float
    reached: float
    least_n: int
    enough_n: int
    least_epsilon: float
    enough_epsilon: float

    @property
    def verdict(self) -> str:
        """ "impossible", "possible", or "open" where neither is known.

        >>> proportion(margin=0.05, n=1000, epsilon=0.1).verdict
        'possible'
        """
        if self.confidence > self.limit:
            return "impossible"
        return "possible" if self.reached >= self.confidence else "open"

    def __str__(self) -> str:
        level = percent(self.confidence)
        task = f"a proportion of {self.n} records within {self.margin:g}"
        if self.verdict == "possible":
            return (
                f"possible: Laplace noise of epsilon {self.epsilon:g} keeps {task}\n"
                f"with {percent_down(self.reached)} confidence. Any method needs at least "
                f"{self.least_n} records for {level}."
            )
        needs = (
            f"{self.enough_n} records (fewer than {self.least_n} never are), or epsilon "
            f"{_round_up(self.enough_epsilon)} (less than {_round_down(self.least_epsilon)}\n"
            "never is)."
        )
        if self.verdict == "open":
            return (
                f"open: Laplace noise of epsilon {self.epsilon:g} keeps {task}\nwith "
                f"{percent_down(self.reached)} confidence only, and "
                f"{percent_down(self.limit)} is not ruled out.\nCertainly enough: {needs}"
            )
        return (
            f"impossible: at epsilon {self.epsilon:g} no method gives {task}\nat {level} "
            f"confidence. Tables that differ in {self.changes} records need different answers, "
            f"and no private\nmethod can distinguish them with more than "
            f"{percent_up(self.limit)} confidence.\nEnough: {needs}"
        )


def proportion(
    *,
    margin: Number,
    n: int,
    epsilon: Number,
    confidence: Number = 0.95,
    neighbors: Neighbors = "replace",
) -> Feasibility:
    """Can any epsilon-private method give the proportion of these n records within `margin`?

    The proportion is that of the n records themselves, and n is public. With add-remove
    neighbours, replacing a record takes two changes, so the lower bounds are weaker. Laplace
    noise is as good as before.

    >>> proportion(margin=0.01, n=400, epsilon=0.1).verdict
    'impossible'
    """
    half, level = inside(margin, "margin"), inside(confidence, "confidence")
    people, eps = whole(n, "n"), positive(epsilon, "epsilon")
    steps = 1 if neighboring(neighbors) == "replace" else 2
    changes = most_changes(half, people)
    need = math.log(level / (1 - level))  # changes * epsilon must reach this
    exponent = float(changes * steps * eps)
    whole_range = changes > people  # a margin of one half or more is always met
    trivial = whole_range or need <= 0
    return Feasibility(
        margin=float(half),
        n=people,
        epsilon=float(eps),
        confidence=float(level),
        changes=changes,
        limit=1.0 if whole_range else 1 / (1 + math.exp(-exponent)),
        reached=_reached(half, people, eps),
        least_n=1 if trivial else _least_n(half, need / float(steps * eps)),
        enough_n=math.ceil(Laplace(epsilon=eps).margin(level) / half) or 1,
        least_epsilon=0.0 if trivial else need / (changes * steps),
        enough_epsilon=enough_epsilon(math.floor(half * people), level),
    )


def most_changes(margin: Fraction, n: int) -> int:
    """How many records must differ for two proportions of n to be over two margins apart.

    >>> most_changes(Fraction(1, 100), 400)
    9
    """
    return math.floor(2 * margin * n) + 1


def _least_n(margin: Fraction, changes: float) -> int:
    """The least n with floor(2 margin n) + 1 >= changes."""
    return max(1, math.ceil((math.ceil(changes) - 1) / (2 * margin)))


def _reached(margin: Fraction, n: int, epsilon: Fraction) -> float:
    """P(|Z| <= margin n) for Laplace noise on the count."""
    outside = Laplace(epsilon=epsilon).noise().outside(math.floor(margin * n), 128)[1]
    return floats.down(1 - Fraction(outside, 1 << 128))


def enough_epsilon(steps: int, level: Fraction) -> float:
    """The least epsilon, to six digits, whose Laplace noise stays within this many steps.

    >>> round(enough_epsilon(6, Fraction(19, 20)), 5)
    0.4569
    """
    miss = float(1 - level)

    def enough(epsilon: float) -> bool:
        return 2 * math.exp(-epsilon * (steps + 1)) / (1 + math.exp(-epsilon)) <= miss

    low, high = 0.0, 1.0
    while not enough(high) and high < _LARGEST:
        high *= 2
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _round_up(x: float) -> str:
    power = 10 ** (4 - max(0, math.ceil(math.log10(x)))) if x < 1000 else 1
    return f"{math.ceil(x * power) / power:g}"


def _round_down(x: float) -> str:
    power = 10 ** (4 - max(0, math.ceil(math.log10(x)))) if 0 < x < 1000 else 1
    return f"{math.floor(x * power) / power:g}"
