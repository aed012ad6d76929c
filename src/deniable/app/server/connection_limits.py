"""How many connections one address may hold open at a time, without keeping any address.

A server serves a limited number of connections. Without this, one machine that opens all of
them and says nothing would keep everybody else out. Addresses are hashed with a key that exists
only in the memory of this process, and forgotten when their last connection ends. This machine
itself is not limited: a proxy on it speaks for everybody.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from deniable.app.server.loopback_hosts import is_loopback
from deniable.app.server.rate_limits import AddressHash

MOST_CONNECTIONS = 64  # of one address; an office or a household may share one


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


def limited_protocol(open_ones: OpenConnections) -> type[H11Protocol]:
    """HTTP as uvicorn speaks it, for as many connections of an address as are allowed."""

    class LimitedProtocol(H11Protocol):
        """One connection. Beyond the limit it is closed before a byte is read."""

        counted: str | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            address = _address(transport.get_extra_info("peername"))
            super().connection_made(transport)
            if open_ones.add(address):
                self.counted = address
            else:
                transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            if self.counted is not None:
                open_ones.remove(self.counted)
                self.counted = None
            super().connection_lost(exc)

    return LimitedProtocol


def _address(peer: Any) -> str:
    return str(peer[0]) if isinstance(peer, tuple) else ""
