"""The steps of a watch: spans of days, fixed when it begins."""

import datetime
from dataclasses import dataclass

from deniable.errors import InvalidParameter
from deniable.exact.rationals import whole

_NAMED = {"day": 1, "week": 7}
_A_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class WatchSchedule:
    """Steps of `every` days, from `since` until and with `until`; the last may be shorter.

    >>> year = WatchSchedule.of("2026-01-01", "2026-12-31", "week")
    >>> year.steps, year.due(datetime.date(2026, 1, 13), wait=0), len(year.days(53))
    (53, 1, 1)
    """

    since: datetime.date
    until: datetime.date
    every: int

    @classmethod
    def of(cls, since: object, until: object, every: object) -> "WatchSchedule":
        """A schedule from what a caller gives: dates, or text such as 2026-12-31."""
        first = datetime.date.today() if since is None else read_day(since, "since")
        last = read_day(until, "until")
        if last < first:
            raise InvalidParameter(
                f"`until` ({last}) is before `since` ({first}). Nothing was spent."
            )
        length = _NAMED.get(every) if isinstance(every, str) else every
        if isinstance(every, str) and length is None:
            raise InvalidParameter(
                f'`every` is "day", "week" or a number of days. Found {every!r}.'
            )
        return cls(first, last, whole(length, "every"))  # type: ignore[arg-type]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return -(-((self.until - self.since).days + 1) // self.every)

    def to_json(self) -> dict[str, str | int]:
        """The schedule, as a stream's state says it."""
        return {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "every": self.every,
        }

    def days(self, step: int) -> list[datetime.date]:
        """The days of a step; steps are counted from 1 on."""
        first = self.since + (step - 1) * self.every * _A_DAY
        return [
            day
            for day in (first + place * _A_DAY for place in range(self.every))
            if day <= self.until
        ]

    def due(self, through: datetime.date, *, wait: int) -> int:
        """How many steps are over, `wait` days after their last day, at the end of a day."""
        over = (through - self.since).days + 1 - wait
        if (through - self.until).days >= wait:
            return self.steps
        return max(0, over // self.every)


def read_day(day: object, name: str) -> datetime.date:
    """A day from a date, or from text such as 2026-12-31."""
    if isinstance(day, datetime.datetime):
        day = day.date()
    if isinstance(day, datetime.date):
        return day
    try:
        return datetime.date.fromisoformat(day)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"`{name}` must be a day, such as 2026-12-31. Found {day!r}."
        ) from None
