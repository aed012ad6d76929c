"""A driver in the manner of Python's DB-API 2.0 (PEP 249), for tools that speak SQL.

    import pandas
    from deniable import dbapi

    with dbapi.connect("deniable.toml") as connection:
        pandas.read_sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward EPSILON 0.5",
                        connection)

A statement is charged if, and only if, it ends with a price (`EPSILON 0.5`) or an accuracy
(`WITHIN 50`). Anything else, such as the previews that tools send on their own, gets an
explanation and spends nothing. Each number has its interval beside it, in `n_low` and `n_high`.
"""

from deniable.dbapi.connection import Connection, connect
from deniable.dbapi.cursor import Cursor
from deniable.dbapi.driver_errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from deniable.dbapi.result_types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 1  # threads may share the module, not a connection
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
