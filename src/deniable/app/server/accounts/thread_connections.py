"""A connection for each thread. That of a thread that has ended is closed by the next one.

Each question is answered in a thread of its own. Without this, a server would hold the files of
as many connections as it has answered questions, until the system gives it no more.
"""

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class _Closable(Protocol):
    def close(self) -> None: ...


Kind = TypeVar("Kind", bound=_Closable)


class ThreadConnections(Generic[Kind]):
    """The open connections of a process, by their threads.

    >>> import io
    >>> connections = ThreadConnections(io.StringIO, is_usable=lambda one: not one.closed)
    >>> first = connections.mine()
    >>> connections.mine() is first
    True
    >>> connections.close()
    >>> first.closed
    True
    """

    def __init__(
        self, connect: Callable[[], Kind], *, is_usable: Callable[[Kind], bool] | None = None
    ) -> None:
        self._connect, self._is_usable = connect, is_usable
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, Kind] = {}

    def mine(self) -> Kind:
        """The connection of this thread; a new one if it has not, or if its own is broken."""
        here = threading.current_thread()
        known = self._open.get(here)
        if known is not None and (self._is_usable is None or self._is_usable(known)):
            return known
        new_connection = self._connect()
        with self._lock:
            gone = [owner for owner in self._open if owner is here or not owner.is_alive()]
            closed = [self._open.pop(thread) for thread in gone]
            self._open[here] = new_connection
        for connection in closed:
            connection.close()
        return new_connection

    def close(self) -> None:
        """Closes all connections, which must not be used any more."""
        with self._lock:
            closed, self._open = list(self._open.values()), {}
        for connection in closed:
            connection.close()
