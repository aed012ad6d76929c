"""When an answer is handed over: at a moment that is known before a row is read.

How long an engine works depends on the rows, so that time may not be seen. A plan gets a slot:
its length follows from the plan, from what the policy declares, and from a rehearsal on made-up
rows. An answer, and a failure, waits for the end of its slot. An engine that is not ready
shortly before is killed, and the one error of all failures is given at the slot's end.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.policy import Policy
from deniable.policy.table import ROW_CEILING
from deniable.query.plan.plan import Plan

SLOT_SECONDS = 1.0
LONGEST_SLOT = 3600.0
_SHARE = 4  # a rehearsal may take a quarter of its slot
_SIGNING = 0.05  # of a slot: to sign an answer, or to end an engine that is late
_TABLES = (
    "CREATE TABLE IF NOT EXISTS slots (policy TEXT NOT NULL, plan TEXT NOT NULL,"
    " seconds REAL NOT NULL, PRIMARY KEY (policy, plan)) STRICT",
)


def slot_length(shortest: float, expected: float) -> float:
    """The shortest slot of shortest * 2**k seconds of which `expected` is at most a quarter.

    >>> [slot_length(0.25, seconds) for seconds in (0.01, 0.0625, 0.07, 1.0)]
    [0.25, 0.25, 0.5, 4.0]
    """
    length = shortest
    while length < _SHARE * expected and length < LONGEST_SLOT:
        length *= 2
    return length


class SlotLengths:
    """The length of each plan's slot: found once, the same for all workers from then on."""

    def __init__(
        self,
        name: str,
        policy: Policy,
        database: ServerDatabase,
        rehearse: Callable[[Plan], float],
        *,
        shortest: float = SLOT_SECONDS,
    ) -> None:
        self._name, self._policy, self._database = name, policy, database
        self._rehearse, self._shortest = rehearse, shortest
        database.create(*_TABLES)

    def of(self, plan: Plan, plan_hash: str) -> float:
        """The length of a plan's slot, in seconds; for a new plan it is rehearsed."""
        before = self.known(plan_hash)
        if before is not None:
            return before
        key = self._key(plan_hash)
        seconds = self._rehearse(plan)
        growth = max(self._growth(table) for table in plan.tables)
        length = slot_length(self._shortest, seconds * growth)
        with self._database.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO slots VALUES (?, ?, ?)", (*key, length))
            (length,) = connection.execute(
                "SELECT seconds FROM slots WHERE policy = ? AND plan = ?", key
            ).fetchone()
        return float(length)

    def known(self, plan_hash: str) -> float | None:
        """The length of a slot that was found before."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT seconds FROM slots WHERE policy = ? AND plan = ?", self._key(plan_hash)
            ).fetchone()
        return None if row is None else float(row[0])

    def _key(self, plan_hash: str) -> tuple[str, str]:
        return self._name, f"{self._shortest!r} {plan_hash}"

    def _growth(self, table: str) -> float:
        """How many times as many rows a table may have as the rehearsal had."""
        declared = self._policy.tables[table]
        made_up = min(declared.expected_rows or 1000, 100_000)
        ceiling = declared.row_ceiling if declared.row_ceiling < ROW_CEILING else None
        return (ceiling or declared.expected_rows or made_up) / made_up


@dataclass(slots=True)
class Timetable:
    """The slots of one question's steps, one after the other, from a moment on."""

    start: float  # of `now`
    lengths: Sequence[float]
    padded: bool = True  # whether an answer waits for the end of its slot
    reserved: "Future[None]" = field(default_factory=Future)
    ends: float = 0.0  # of the step that has begun
    work_ends: float = 0.0  # when its engine is killed
    late: bool = False  # whether it was not ready at its end
    # For each step that was late, and whether this person was late too often to learn more.
    count_late: Callable[[], None] = lambda: None
    is_locked: Callable[[], bool] = lambda: False
    _next: int = 0
    _counted: bool = False

    @property
    def end(self) -> float:
        """When the last slot ends."""
        return self.start + sum(self.lengths)

    def announce(self) -> None:
        """Tells who waits that the question is reserved, or will not be."""
        if not self.reserved.done():
            self.reserved.set_result(None)

    def begin_step(self) -> float:
        """Waits for the next step's slot, and returns when it ends."""
        self.announce()
        place = min(self._next, len(self.lengths) - 1)
        self._next += 1
        begins = self.start + sum(self.lengths[:place])
        if self.padded or place == 0:
            wait_until(begins)
        self.late = self._counted = False
        self.ends = begins + self.lengths[place]
        self.work_ends = self.ends - _SIGNING * self.lengths[place] * self.padded
        return self.ends

    def count_once(self) -> None:
        """Counts the step if it was not ready when its slot ended; once."""
        if self.late and not self._counted:
            self._counted = True
            self.count_late()


def now() -> float:
    """Seconds since 1970, which all workers share."""
    return time.time()


def wait_until(moment: float) -> None:
    """Returns at a moment of `now`, or at once if it has passed."""
    while (left := moment - now()) > 0:
        time.sleep(left)


def in_monotonic_time(moment: float) -> float:
    """A moment of `now` on the clock that never jumps."""
    return time.monotonic() + (moment - now())
