"""How much may be told: an amount, and how it grows by a schedule that was fixed at the start.

Only the owner writes it, before the first question. An analyst cannot make it grow, and what
it will have grown to by any day can be said today: that whole amount is what is promised.
"""

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, positive, rational, whole

Sums: TypeAlias = Literal["pure", "zcdp", "gdp"]
_FARTHEST = Fraction(10) ** 100  # of amounts; beyond, the doubles that propose give out
SUMS: tuple[Sums, ...] = ("pure", "zcdp", "gdp")


@dataclass(frozen=True, slots=True, init=False)
class Schedule:
    """Adds `epsilon` and `delta` every so many days after `start`, at most `times` times.

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
                f"`start` must be a day, such as 2026-01-31. Found {start!r}.",
                where=("start",),
            )
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "every", _counted("every", every))
        object.__setattr__(self, "epsilon", _epsilon(epsilon))
        object.__setattr__(self, "delta", _delta(delta))
        object.__setattr__(self, "times", _counted("times", times))

    def steps(self, day: datetime.date) -> int:
        """How often it has added by the end of a day."""
        return max(0, min(self.times, (day - self.start).days // self.every))


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """An epsilon and a delta for all questions together, and perhaps a schedule.

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
                "The schedule lets `delta` grow to 1 or more, which promises nothing.",
                where=("schedule", "delta"),
            )

    def at(self, day: datetime.date | None) -> "Budget":
        """What it has grown to by a day; with None, the whole that it will ever be."""
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
        return tuple(grows.start + one for one in after)


def _counted(key: str, value: int) -> int:
    try:
        return whole(value, key)
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=(key,)) from None


def _epsilon(epsilon: Number) -> Fraction:
    try:
        exact = positive(epsilon, "epsilon")
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=("epsilon",)) from None
    if not 1 / _FARTHEST <= exact <= _FARTHEST:
        raise InvalidPolicy(
            "`epsilon` is out of any useful range: 1 is a usual choice, and 1e-100 to 1e100 "
            "can be reckoned with.",
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
            f"`delta` is the chance that the guarantee fails: 0 or more, and well below 1, "
            f"such as 1e-6. Found {delta}.",
            where=("delta",),
        )
    return exact
