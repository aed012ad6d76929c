"""How often somebody may do something in a period, counted for all workers of a server.

The counts are in the database of people, which all workers share. A worker takes several at a
time, at most a twentieth of what it spent in the period, and spends them by itself. So busy
people cause few writes, and workers together allow never more than the limit and at most a
twentieth less, however many they are. A period is a full minute or hour of the clock. Where the
database is away, or busy for seconds, nothing is allowed: ServerUnavailable.

Nobody can fill the database. People have a row each. For addresses there are 16,384 buckets an
hour for each kind of limit: an address counts in the bucket that a hash names. If 1,000 come in
an hour, 940 are alone in theirs; two in one bucket share its limit. Of a bucket another hash is
written, and the day. The key is in the memory of the server's processes only, and all is
different in each hour. Rows of earlier days are deleted a thousand at a time.
"""

import hashlib
import threading
import time
from collections.abc import Callable

from deniable.app.server.accounts.account_stores import AccountStore, Statements
from deniable.app.server.rate_limits import network_of

_PART = 20  # a worker takes at most this part of what it spent, so at most that part is lost
_MOST_NAMES = 100_000  # that one worker remembers
_BUCKETS = 1 << 14
_DAY = 86_400
_AT_ONCE = 1000  # old rows that one request deletes
_PATIENCE = 3.0  # seconds to wait for other writes
_CLOCKS = 3600  # seconds that the clocks of several servers may differ

TABLE = (
    "CREATE TABLE IF NOT EXISTS shared_limits (what TEXT NOT NULL, name TEXT NOT NULL,"
    " period INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (what, name))"
    " WITHOUT ROWID, STRICT"
)


class SharedLimits:
    """What each person may do so often in a period.

    >>> import tempfile
    >>> from deniable.app.server.accounts.account_stores import open_store
    >>> store = open_store(f"{tempfile.mkdtemp()}/server.sqlite")
    >>> first, second = (SharedLimits(store, "requests", 3, seconds=60) for _ in range(2))
    >>> [limits.allow("ann") for limits in (first, second, first, second)]
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
        self._seconds, self._clock = seconds, clock or _now
        self._ahead = max(1, _CLOCKS // seconds)  # periods that another clock may be ahead
        self._lock = threading.Lock()
        self._period, self._swept = 0, 0
        self._held: dict[str, int] = {}  # what this worker took and has not spent
        self._spent: dict[str, int] = {}
        self._over: set[str] = set()  # for whom all of the period is taken
        store.create(TABLE)

    def allow(self, who: str) -> bool:
        """Whether this is allowed once more now; it counts then."""
        period = int(self._clock() // self._seconds)
        name = self.name_of(who, period)
        with self._lock:
            if period != self._period or len(self._held) >= _MOST_NAMES:
                self._held, self._spent, self._over = {}, {}, set()
                self._period = period
            if self._spend(name):
                return True
            if name in self._over:
                return False
            share = max(1, self._spent.get(name, 0) // _PART)
        taken = self._take(name, period, share)
        with self._lock:
            if period != self._period:
                return taken > 0
            self._held[name] = self._held.get(name, 0) + taken
            if taken < share:
                self._over.add(name)
            return self._spend(name)

    def wait(self, who: str) -> int:
        """The seconds until the next period begins."""
        return self._seconds - int(self._clock() % self._seconds)

    def name_of(self, who: str, period: int) -> str:
        """The name under which somebody is counted."""
        return who

    def written_as(self, period: int) -> int:
        """What is written of a period, by which old counts are deleted."""
        return period

    def _spend(self, name: str) -> bool:
        held = self._held.get(name, 0)
        if held:
            self._held[name] = held - 1
            self._spent[name] = self._spent.get(name, 0) + 1
        return held > 0

    def _take(self, name: str, period: int, share: int) -> int:
        """How many of the rest are this worker's from now on: none, if there is no rest.

        A count never goes back to an earlier period: a worker whose clock is behind counts in
        the period that another one began.
        """
        written = self.written_as(period)
        with self._store.writing(patience=_PATIENCE) as connection:
            if written != self._swept:
                self._sweep(connection, written)
            row = connection.execute(
                "SELECT period, count FROM shared_limits WHERE what = ? AND name = ?",
                (self._what, name),
            ).fetchone()
            before = 0
            if row is not None and written <= int(row[0]) <= written + self._ahead:
                written, before = int(row[0]), int(row[1])
            taken = max(0, min(share, self._most - before))
            if taken:
                connection.execute(
                    "INSERT INTO shared_limits VALUES (?, ?, ?, ?) ON CONFLICT (what, name)"
                    " DO UPDATE SET period = excluded.period, count = excluded.count",
                    (self._what, name, written, before + taken),
                )
        return taken

    def _sweep(self, connection: Statements, written: int) -> None:
        """Deletes some rows that no clock needs any more."""
        deleted = connection.execute(
            "DELETE FROM shared_limits WHERE what = ? AND name IN (SELECT name FROM"
            " shared_limits WHERE what = ? AND period < ? LIMIT ?)",
            (self._what, self._what, written - self._ahead, _AT_ONCE),
        ).rowcount
        if deleted < _AT_ONCE:
            self._swept = written


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
        """A bucket that says nothing without the key, and nothing of other periods."""
        hour = f"{self._what} {period} ".encode()
        address = f"address {self._about} ".encode() + network_of(who)
        bucket = int.from_bytes(self._hash(hour + address)) % _BUCKETS
        return self._hash(hour + f"bucket {bucket}".encode()).hex()

    def written_as(self, period: int) -> int:
        """The day: nothing that is written says at which hour somebody was here."""
        return period * self._seconds // _DAY

    def _hash(self, content: bytes) -> bytes:
        return hashlib.blake2b(content, key=self._key, digest_size=16).digest()


def _now() -> float:
    return time.time()
