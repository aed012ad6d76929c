"""Connections of the driver: to a policy's file, to a server, or to a session that is open."""

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

import deniable as dp
from deniable.dbapi import driver_errors
from deniable.dbapi.cursor import Cursor
from deniable.dbapi.driver_errors import InterfaceError, translating_errors

if TYPE_CHECKING:
    from deniable.release.public_session import Session


def connect(
    address: str | None = None,
    *,
    session: "Session | None" = None,
    analyst: str | None = None,
    **options: Any,
) -> "Connection":
    """A connection to a policy's file, or to `https://host/policy` with `token` and `key`, as
    `dp.connect` takes them. Without `token`, DENIABLE_TOKEN in the environment is used.

    An open `session` may be given instead; closing the connection then leaves it open.
    """
    if (address is None) == (session is None):
        raise InterfaceError("Give either an address or a session.")
    if session is not None:
        return Connection(session, owned=False)
    assert address is not None
    with translating_errors():
        if address.startswith(("https://", "http://")):
            options.setdefault("token", os.environ.get("DENIABLE_TOKEN"))
            if options["token"] is None:
                raise InterfaceError("Give a token, or set DENIABLE_TOKEN to it.")
            return Connection(dp.connect(address, **options), owned=True)
        if options:
            raise InterfaceError(
                f"A policy's file needs no {', '.join(sorted(options))}: these are for servers."
            )
        return Connection(dp.open(address, analyst=analyst), owned=True)


class Connection:
    """A session, as PEP 249 wants it. There are no transactions: a charge is never undone."""

    Warning = driver_errors.Warning
    Error = driver_errors.Error
    InterfaceError = driver_errors.InterfaceError
    DatabaseError = driver_errors.DatabaseError
    DataError = driver_errors.DataError
    OperationalError = driver_errors.OperationalError
    IntegrityError = driver_errors.IntegrityError
    InternalError = driver_errors.InternalError
    ProgrammingError = driver_errors.ProgrammingError
    NotSupportedError = driver_errors.NotSupportedError

    def __init__(self, session: "Session", *, owned: bool) -> None:
        self._session, self._owned, self.closed = session, owned, False

    @property
    def session(self) -> "Session":
        """The session behind this connection."""
        if self.closed:
            raise InterfaceError("This connection was closed.")
        return self._session

    def cursor(self) -> Cursor:
        """A new cursor."""
        if self.closed:
            raise InterfaceError("This connection was closed.")
        return Cursor(self)

    def commit(self) -> None:
        """Does nothing: what was charged is charged at once."""

    def rollback(self) -> None:
        """Does nothing: a charge is never undone. Tools call it after every question."""

    def close(self) -> None:
        """Ends the connection, and its session if the connection opened it."""
        if not self.closed and self._owned:
            self._session.close()
        self.closed = True

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
