"""The types of result columns, and the constructors of values that PEP 249 asks for."""

import datetime

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """The day of a moment, in UTC.

    >>> DateFromTicks(0)
    datetime.date(1970, 1, 1)
    """
    return TimestampFromTicks(ticks).date()


def TimeFromTicks(ticks: float) -> datetime.time:
    """The time of a moment, in UTC."""
    return TimestampFromTicks(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """A moment, in UTC, without its zone."""
    return datetime.datetime.fromtimestamp(ticks, datetime.UTC).replace(tzinfo=None)


class ColumnType(frozenset[str]):
    """A set of Arrow types that PEP 249 has one name for. It equals each of them.

    >>> STRING == "string", NUMBER == "string"
    (True, False)
    """

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, str) else super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = frozenset.__hash__


STRING = ColumnType(("string",))
NUMBER = ColumnType(("int64", "double", "bool"))
DATETIME = ColumnType(("date32[day]", "timestamp[s]"))
BINARY = ColumnType()
ROWID = ColumnType()
