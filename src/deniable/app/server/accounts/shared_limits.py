"""How often somebody may do something in a period, counted for all workers of a server.

The counts are in the database of people, which all workers share. A worker takes several at a
time where that many are allowed, and spends them by itself, so few requests write. What it
took and did not spend is lost when the period ends: workers together never allow more than the
limit, and a little less to who asks only some of them. A period is a full minute or hour of
the clock. Where the database is away, nothing is allowed: ServerUnavailable.

Of an address a hash is written, and the day. Its key is in the memory of the server's processes
only, and it is another hash in each period. Those of earlier days are deleted.
"""

import hashlib
import threading
import time
from collections.abc import Callable

from deniable.app.server.accounts.account_stores import AccountStore
from deniable.app.server.rate_limits import network_of

_SHARES = 64  # in how many parts workers take a limit, at least
_MOST_NAMES = 100_000  # that one worker remembers
_DAY = 86_400
_SPENT = -1  # all of the period, by all workers

TABLE = (
    "CREATE TABLE IF NOT EXISTS limits (what TEXT NOT NULL, name TEXT NOT NULL,"
    " period INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (what, name)) STRICT"
)


class SharedLimits:
    """What each person may do so often in a period.

    >>> import tempfile
    >>> from deniable.app.server.accounts.account_stores import open_store
    >>> store = open_store(f"{tempfile.mkdtemp()}/server.sqlite")
    >>> one, another = (SharedLimits(store, "requests", 3, seconds=60) for _ in range(2))
    >>> [limits.allow("ann") for limits in (one, another, one, another)]
    [True, True, True, False]
    """

    def __init__(
        self,
        store: AccountStore,
        what: str,
        most: int,
        *,
        seconds: int,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._store, self._what, self._most = store, what, most
        self.seconds, self._clock = seconds, clock or _now
        self._lock = threading.Lock()
        self._period, self._swept = 0, 0
        self._held: dict[str, int] = {}  # what this worker took and has not spent
        store.create(TABLE)

    def allow(self, who: str) -> bool:
        """Whether this is allowed once more now; it counts then."""
        period = int(self._clock() // self.seconds)
        name = self.name_of(who, period)
        with self._lock:
            if period != self._period or len(self._held) >= _MOST_NAMES:
                self._held, self._period = {}, period
            held = self._held.get(name, 0)
            if held > 0:
                self._held[name] = held - 1
            if held:
                return held > 0
        taken = self._take(name, period)
        with self._lock:
            if period == self._period:
                self._held[name] = (
                    max(self._held.get(name, 0), 0) + taken - 1 if taken else _SPENT
                )
        return taken > 0

    def name_of(self, who: str, period: int) -> str:
        """The name under which somebody is counted."""
        return who

    def written_as(self, period: int) -> int:
        """What is written of a period, by which old counts are deleted."""
        return period

    def _take(self, name: str, period: int) -> int:
        """How many of the rest are this worker's from now on: none, if there is no rest."""
        written = self.written_as(period)
        with self._store.writing() as connection:
            if written != self._swept:
                connection.execute(
                    "DELETE FROM limits WHERE what = ? AND period < ?", (self._what, written)
                )
            row = connection.execute(
                "SELECT count FROM limits WHERE what = ? AND name = ? AND period = ?",
                (self._what, name, written),
            ).fetchone()
            before = 0 if row is None else int(row[0])
            taken = min(max(1, self._most // _SHARES), self._most - before)
            if taken > 0:
                connection.execute(
                    "INSERT INTO limits VALUES (?, ?, ?, ?) ON CONFLICT (what, name)"
                    " DO UPDATE SET period = excluded.period, count = excluded.count",
                    (self._what, name, written, before + taken),
                )
        self._swept = written
        return max(0, taken)


class SharedAddressLimits(SharedLimits):
    """What each address may do so often in a period. Of an IPv6 address the network counts."""

    def __init__(
        self,
        store: AccountStore,
        what: str,
        most: int,
        *,
        seconds: int,
        key: bytes,
        about: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(store, what, most, seconds=seconds, clock=clock)
        self._key, self._about = key, about

    def name_of(self, who: str, period: int) -> str:
        """A hash that says nothing without the key, and nothing of other periods."""
        told = f"{self._what} {self._about} {period} ".encode() + network_of(who)
        return hashlib.blake2b(told, key=self._key, digest_size=16).hexdigest()

    def written_as(self, period: int) -> int:
        """The day: nothing that is written says at which hour somebody was here."""
        return period * self.seconds // _DAY


def _now() -> float:
    return time.time()
