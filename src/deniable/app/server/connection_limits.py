"""How many connections one address may hold open at a time, without keeping any address.

A server serves a limited number of connections. Without this, one machine that opens all of
them and says nothing would keep everybody else out. Addresses are hashed with a key that exists
only in the memory of this process, and forgotten when their last connection ends. This machine
itself is not limited: a proxy on it speaks for everybody. A connection whose request has not
come in full after some seconds is closed, so that slow ones do not pile up.
"""

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from deniable.app.server.loopback_hosts import is_loopback
from deniable.app.server.rate_limits import AddressHash

MOST_CONNECTIONS = 64  # of one address; an office or a household may share one
REQUEST_SECONDS = 20.0  # in which a request of at most 64 kB has come in full


class OpenConnections:
    """Counts the open connections of each address.

    >>> open_ones = OpenConnections(1)
    >>> open_ones.add("192.0.2.7"), open_ones.add("192.0.2.7"), open_ones.add("127.0.0.1")
    (True, False, True)
    >>> open_ones.remove("192.0.2.7")
    >>> open_ones.add("192.0.2.7")
    True
    """

    def __init__(self, most: int = MOST_CONNECTIONS) -> None:
        self._most, self._hash = most, AddressHash()
        self._open: Counter[bytes] = Counter()

    def add(self, address: str) -> bool:
        """Whether this address may open one more, which counts from now on."""
        if is_loopback(address):
            return True
        name = self._hash(address)
        if self._open[name] >= self._most:
            return False
        self._open[name] += 1
        return True

    def remove(self, address: str) -> None:
        """A connection that was added has ended."""
        if is_loopback(address):
            return
        name = self._hash(address)
        self._open[name] -= 1
        if not self._open[name]:
            del self._open[name]


class LimitedProtocol(H11Protocol):
    """One connection. Beyond the limit it is closed before a byte is read."""

    open_ones: OpenConnections
    request_seconds: float
    counted: str | None = None
    patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts the connection, or ends it."""
        address = _address(transport.get_extra_info("peername"))
        super().connection_made(transport)
        if self.open_ones.add(address):
            self.counted = address
            self.expect_request()
        else:
            transport.abort()

    def expect_request(self) -> None:
        """Closes the connection, unless a request has come in full by then."""
        self.stop_waiting()
        self.patience = self.loop.call_later(self.request_seconds, self.transport.abort)

    def stop_waiting(self) -> None:
        """A request is here, or the connection has ended."""
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None

    def data_received(self, data: bytes) -> None:
        """Reads on, and stops waiting when the request is whole."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self.stop_waiting()

    def on_response_complete(self) -> None:
        """Waits for the next request."""
        self.expect_request()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts the connection no longer."""
        self.stop_waiting()
        if self.counted is not None:
            self.open_ones.remove(self.counted)
            self.counted = None
        super().connection_lost(exc)


def limited_protocol(
    connections: OpenConnections, *, seconds: float = REQUEST_SECONDS
) -> type[H11Protocol]:
    """HTTP as uvicorn speaks it, for as many connections of an address as are allowed, each of
    which has that many seconds for a request."""

    class Protocol(LimitedProtocol):
        open_ones = connections
        request_seconds = seconds

    return Protocol


def _address(peer: Any) -> str:
    return str(peer[0]) if isinstance(peer, tuple) else ""
