"""Days and moments as SQLite gets them: the number of microseconds since 1970."""

import calendar
import re
from collections.abc import Callable
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta

from deniable.engines.dialect.text_patterns import MOMENT_PARTS

DAY = 86_400_000_000  # microseconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MOMENT = re.compile(MOMENT_PARTS)


def text_to_moment(text: str) -> int | None:
    """Text as a moment; None if there is no such day or time."""
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    *parts, fraction = match.groups()
    try:
        start = datetime(*(int(part or 0) for part in parts), tzinfo=UTC)  # type: ignore[arg-type,misc]
    except ValueError:
        return None
    return _to_moment(start) + int((fraction or "").ljust(6, "0"))


def to_datetime(moment: int) -> datetime:
    """A moment as Python knows it."""
    return _EPOCH + timedelta(microseconds=moment)


def _to_moment(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


PARTS: dict[str, Callable[[datetime], int]] = {
    "YEAR": lambda at: at.year,
    "QUARTER": lambda at: (at.month + 2) // 3,
    "MONTH": lambda at: at.month,
    "WEEK": lambda at: at.isocalendar().week,
    "DAY": lambda at: at.day,
    "DAYOFYEAR": lambda at: at.timetuple().tm_yday,
    "DAYOFWEEK": lambda at: at.isoweekday() % 7,
    "ISODOW": lambda at: at.isoweekday(),
    "HOUR": lambda at: at.hour,
    "MINUTE": lambda at: at.minute,
    "SECOND": lambda at: at.second,
}
# How many of a unit began before a moment; a week is seven days.
_COUNTS: dict[str, Callable[[int], int]] = {
    "SECOND": lambda moment: moment // 1_000_000,
    "MINUTE": lambda moment: moment // 60_000_000,
    "HOUR": lambda moment: moment // (DAY // 24),
    "DAY": lambda moment: moment // DAY,
    "WEEK": lambda moment: moment // DAY,
    "MONTH": lambda moment: to_datetime(moment).year * 12 + to_datetime(moment).month,
    "YEAR": lambda moment: to_datetime(moment).year,
}
DIFFERENCES = frozenset(_COUNTS)


def difference(unit: str, end: int, start: int) -> int:
    """How many units began between two moments."""
    between = _COUNTS[unit](end) - _COUNTS[unit](start)
    if unit != "WEEK":
        return between
    return between // 7 if between >= 0 else -(-between // 7)


def move(unit: str, moment: int, count: int) -> int | None:
    """A moment that is moved by seconds or months; None beyond the years 1 to 9999. The day of
    a month stays, or is its last one."""
    if unit == "SECOND":
        return moment + count * 1_000_000
    start = to_datetime(moment)
    year, month = divmod(start.year * 12 + start.month - 1 + count, 12)
    if not MINYEAR <= year <= MAXYEAR:
        return None
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return _to_moment(start.replace(year=year, month=month + 1, day=day))


def truncate(unit: str, moment: int) -> int:
    """The start of a second or a longer unit."""
    start = to_datetime(moment).replace(microsecond=0)
    if unit != "SECOND":
        start = start.replace(second=0)
    if unit not in ("SECOND", "MINUTE"):
        start = start.replace(minute=0)
    if unit not in ("SECOND", "MINUTE", "HOUR"):
        start = start.replace(hour=0)
    if unit == "WEEK":
        start -= timedelta(days=start.weekday())
    if unit in ("MONTH", "QUARTER", "YEAR"):
        month = {"MONTH": start.month, "QUARTER": (start.month - 1) // 3 * 3 + 1, "YEAR": 1}
        start = start.replace(day=1, month=month[unit])
    return _to_moment(start)
