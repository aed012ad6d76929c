"""The privacy budget: an epsilon and a delta, and how they grow by a fixed schedule.

Only the owner writes it, before the first question. An analyst cannot make it grow. Its amount
on every later day is known from the start, so the guarantee is stated for the final amount.
"""

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, positive, rational, whole

FilterName: TypeAlias = Literal["pure", "zcdp", "gdp"]
_MOST_TIMES = 10_000  # a day each for 27 years
_LARGEST = Fraction(10) ** 100  # beyond, doubles cannot propose values
FILTER_NAMES: tuple[FilterName, ...] = ("pure", "zcdp", "gdp")


@dataclass(frozen=True, slots=True, init=False)
class Schedule:
    """Adds `epsilon` and `delta` every `every` days after `start`, at most `times` times.

    >>> grows = Schedule(start=datetime.date(2026, 1, 1), every=30, epsilon=0.5, times=2)
    >>> [grows.steps(datetime.date(2026, month, 1)) for month in (1, 2, 3, 12)]
    [0, 1, 1, 2]
    """

    start: datetime.date
    every: int  # days
    epsilon: Fraction
    delta: Fraction
    times: int

    def __init__(
        self,
        *,
        start: datetime.date,
        every: int,
        epsilon: Number,
        delta: Number = 0,
        times: int,
    ) -> None:
        if not isinstance(start, datetime.date) or isinstance(start, datetime.datetime):
            raise InvalidPolicy(
                f"`start` must be a date, such as 2026-01-31. Found {start!r}.",
                where=("start",),
            )
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "every", _positive_integer("every", every))
        object.__setattr__(self, "epsilon", _epsilon(epsilon))
        object.__setattr__(self, "delta", _delta(delta))
        object.__setattr__(self, "times", _positive_integer("times", times))
        _check_end(start, self.every, self.times)

    def steps(self, day: datetime.date) -> int:
        """How many times it has added by the end of a day."""
        return max(0, min(self.times, (day - self.start).days // self.every))


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """An epsilon and a delta for all questions together, and an optional schedule.

    >>> grows = Schedule(start=datetime.date(2026, 1, 1), every=30, epsilon=0.5, times=2)
    >>> budget = Budget(1, 1e-6, schedule=grows)
    >>> [str(budget.at(day).epsilon) for day in (datetime.date(2026, 2, 1), None)]
    ['3/2', '2']
    """

    epsilon: Fraction
    delta: Fraction
    schedule: Schedule | None

    def __init__(
        self, epsilon: Number, delta: Number = 0, *, schedule: Schedule | None = None
    ) -> None:
        object.__setattr__(self, "epsilon", _epsilon(epsilon))
        object.__setattr__(self, "delta", _delta(delta))
        object.__setattr__(self, "schedule", schedule)
        if schedule is not None and self.delta + schedule.times * schedule.delta >= 1:
            raise InvalidPolicy(
                "The schedule lets `delta` grow to 1 or more, which gives no privacy. Lower "
                "its `delta` or `times`.",
                where=("schedule", "delta"),
            )

    def at(self, day: datetime.date | None) -> "Budget":
        """The budget on a day; with None, the final one, after the whole schedule."""
        grows = self.schedule
        if grows is None:
            return self
        steps = grows.times if day is None else grows.steps(day)
        return Budget(self.epsilon + steps * grows.epsilon, self.delta + steps * grows.delta)

    @property
    def days(self) -> tuple[datetime.date, ...]:
        """The days on which it grows."""
        grows = self.schedule
        if grows is None:
            return ()
        after = (datetime.timedelta(grows.every * i) for i in range(1, grows.times + 1))
        return tuple(grows.start + delay for delay in after)


def _positive_integer(key: str, value: int) -> int:
    try:
        return whole(value, key)
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=(key,)) from None


def _check_end(start: datetime.date, every: int, times: int) -> None:
    """Refuses a schedule that nobody could list: too many days, or days after the calendar."""
    if times > _MOST_TIMES:
        raise InvalidPolicy(
            f"`times` must be at most {_MOST_TIMES:,}: each time is a day on which the budget "
            "grows.",
            where=("times",),
        )
    if every * times > (datetime.date.max - start).days:
        raise InvalidPolicy(
            f"The schedule ends after the year {datetime.date.max.year}. Lower `every` or "
            "`times`.",
            where=("every",),
        )


def _epsilon(epsilon: Number) -> Fraction:
    try:
        exact = positive(epsilon, "epsilon")
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=("epsilon",)) from None
    if not 1 / _LARGEST <= exact <= _LARGEST:
        raise InvalidPolicy(
            "`epsilon` is out of any useful range: write a number between 1e-100 and 1e100, "
            "such as 1.",
            where=("epsilon",),
        )
    return exact


def _delta(delta: Number) -> Fraction:
    try:
        exact = rational(delta, "delta")
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=("delta",)) from None
    if not 0 <= exact < 1:
        raise InvalidPolicy(
            "`delta` must be at least 0 and below 1: it is the probability that the guarantee "
            f"fails, so choose a small one, such as 1e-6. Found {delta}.",
            where=("delta",),
        )
    return exact
