"""How many reports one address may send in an hour, without keeping any address.

An address is hashed with a key that exists only in the memory of this process. Nothing is
written anywhere. Of an IPv6 address the network counts (64 bits): one household has all of it.
Where several processes serve one address, `SharedAddressLimits` counts for all of them.
"""

import hashlib
import ipaddress
import math
import secrets
import threading
import time
from collections.abc import Callable
from typing import Protocol

_MOST_ADDRESSES = 100_000
_HOUR = 3600.0


class RateLimits(Protocol):
    """Who may do something how often."""

    def allow(self, who: str, /) -> bool:
        """Whether this is allowed once more now; it counts then."""

    def wait(self, who: str, /) -> int:
        """The seconds after which who is refused now may be allowed again."""


class AddressHash:
    """A name for an address that says nothing to anybody else, also not to the next process.

    >>> name = AddressHash()
    >>> name("192.0.2.7") == name("192.0.2.7"), name("192.0.2.7") == AddressHash()("192.0.2.7")
    (True, False)
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def __call__(self, address: str) -> bytes:
        """The name of the address, or of its network."""
        return hashlib.blake2b(network_of(address), key=self._key, digest_size=16).digest()


class AddressLimits:
    """A bucket for each address, which refills over an hour.

    >>> limits = AddressLimits(2)
    >>> [limits.allow("192.0.2.7") for _ in range(3)], limits.allow("192.0.2.8")
    ([True, True, False], True)
    """

    def __init__(self, per_hour: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_hour, self._clock = per_hour, clock
        self._hash = AddressHash()
        self._buckets: dict[bytes, tuple[float, float]] = {}  # what is left, and when
        self._lock = threading.Lock()

    def allow(self, address: str) -> bool:
        """Whether this address may send one more now."""
        name, now = self._hash(address), self._clock()
        with self._lock:
            if len(self._buckets) >= _MOST_ADDRESSES and name not in self._buckets:
                self._forget(now)
            left = self._left(name, now)
            allowed = left >= 1
            self._buckets[name] = left - allowed, now
        return allowed

    def wait(self, address: str) -> int:
        """The seconds until this address may send one more."""
        with self._lock:
            lacking = 1 - self._left(self._hash(address), self._clock())
        return max(1, math.ceil(lacking * _HOUR / self._per_hour))

    def _left(self, name: bytes, now: float) -> float:
        left, then = self._buckets.get(name, (float(self._per_hour), now))
        return min(self._per_hour, left + (now - then) / _HOUR * self._per_hour)

    def _forget(self, now: float) -> None:
        """Drops full buckets, or else the half that has been quiet for longest."""
        buckets = {
            name: bucket
            for name, bucket in self._buckets.items()
            if self._left(name, now) < self._per_hour
        }
        if len(buckets) >= _MOST_ADDRESSES:
            latest = sorted(buckets.items(), key=lambda item: item[1][1])
            buckets = dict(latest[len(latest) // 2 :])
        self._buckets = buckets


def network_of(address: str) -> bytes:
    """What of an address counts.

    >>> network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::1")
    True
    """
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return address.encode("utf-8", "replace")
    if isinstance(read, ipaddress.IPv6Address):
        mapped = read.ipv4_mapped
        return read.packed[:8] if mapped is None else mapped.packed
    return read.packed
