"""A chain of entries and its anchor: what a ledger is written in.

Entry n carries the hash of its own text and of entry n - 1's hash, so a change anywhere changes
every hash after it. The anchor is one row: the last entry's number and hash, the sums so far,
and a signature over all three. It is what appends lock, so nothing rests on how a database
isolates its transactions, and it is checked before it is believed.
"""

import hashlib
import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.ledger import Head
from deniable.ledger.signing_keys import PublicKey, SigningKey, verified
from deniable.query.plan.canonical import text as canonical

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One entry as it is stored. `ends` and `recall` repeat what the body says, to look it up:
    which reservation it ends, and which question on which data it answers."""

    number: int
    body: str
    hash: str
    ends: str | None
    recall: str | None

    def read(self) -> dict[str, Any]:
        """The body."""
        read: dict[str, Any] = json.loads(self.body)
        return read


@dataclass(frozen=True, slots=True)
class JournalAnchor:
    """The end of the chain: the last entry, the sums as text, and a signature over both."""

    number: int
    hash: str
    state: str
    signature: str

    @property
    def head(self) -> Head:
        """The signed head."""
        return Head(self.number, self.hash, digest(self.state), self.signature)


EMPTY = JournalAnchor(-1, "", "", "")

Decision = tuple[Sequence[Body], Any]  # what to append, and the state after it


class JournalView(ABC):
    """What a decision may look at, while the anchor is locked."""

    anchor: JournalAnchor

    @abstractmethod
    def row(self, number: int) -> Row | None: ...

    @abstractmethod
    def ending(self, reservation: str) -> Row | None:
        """The entry that ended a reservation."""

    @abstractmethod
    def answers(self, recall: str) -> Sequence[Row]:
        """The entries that answered a question, in order."""


class Journal(ABC):
    """A chain that many may append to at once, one after the other."""

    def __init__(self, key: SigningKey | PublicKey) -> None:
        self.key = key
        self._checked = EMPTY  # the last anchor that was found to be signed

    @abstractmethod
    def view(self) -> AbstractContextManager[JournalView]:
        """What is committed now, without a lock."""

    @abstractmethod
    def append(self, decide: Callable[[JournalView], Decision]) -> list[Row]:
        """Asks for a decision under the lock, and makes it durable before returning."""

    @abstractmethod
    def whole(self) -> tuple[Iterable[Row], JournalAnchor]:
        """Every entry, and the anchor of the same moment, unchecked."""

    def close(self) -> None:
        """Lets go of the store."""
        return

    def checked(self, anchor: JournalAnchor) -> JournalAnchor:
        """The anchor, if this ledger's key signed it."""
        if anchor in (EMPTY, self._checked):
            return anchor  # a ledger that was empty may not be so again: see `not_set_back`
        if not verified(anchor.head.message, anchor.signature, self.key.public):
            raise LedgerBroken(
                "The ledger's head is not signed by its key: it was changed, or it is another "
                "ledger. Nothing was spent. `deniable ledger verify` says where."
            )
        self.signed(anchor)
        return anchor

    def not_set_back(self, anchor: JournalAnchor) -> JournalAnchor:
        """The anchor under the lock, if it is not older than one that was seen before."""
        seen = self._checked
        if anchor.number < seen.number or (anchor.number == seen.number and anchor != seen):
            raise LedgerBroken(
                f"The ledger was set back: it ended at entry {seen.number}, and now ends at "
                f"entry {anchor.number}. Nothing was spent. Restore its latest copy."
            )
        return anchor

    def signed(self, anchor: JournalAnchor) -> None:
        """Notes an anchor that was just signed and is committed."""
        if anchor.number > self._checked.number:
            self._checked = anchor

    def extended(
        self, anchor: JournalAnchor, decision: Decision
    ) -> tuple[list[Row], JournalAnchor]:
        """The rows to append and the anchor after them."""
        bodies, state = decision
        rows = list(_chained(anchor, bodies))
        last = rows[-1]
        text = canonical(state)
        unsigned = Head(last.number, last.hash, digest(text), "")
        return rows, JournalAnchor(
            last.number, last.hash, text, self.key.sign(unsigned.message)
        )


def _chained(anchor: JournalAnchor, bodies: Iterable[Body]) -> Iterator[Row]:
    number, before = anchor.number, anchor.hash
    for body in bodies:
        text, number = canonical(dict(body)), number + 1
        before = chain(before, number, text)
        yield Row(number, text, before, *looked_up(body))


def looked_up(body: Body) -> tuple[str | None, str | None]:
    """By what an entry is found again: the reservation that it ends, the question answered."""
    ended = body["kind"] in ("settled", "failed")
    ends = reservation(body["of"], body["place"]) if ended else None
    answered = body["kind"] == "repeated" or "record" in body
    return ends, recall_key(body["plan"], body["version"]) if answered else None


def reservation(number: int, place: int) -> str:
    """The name of one of those that were reserved together."""
    return f"{number}.{place}"


def recall_key(plan_hash: str, version: str) -> str:
    return digest(canonical([plan_hash, version]))


def chain(before: str, number: int, body: str) -> str:
    """An entry's hash, over the one before it."""
    return digest(f"deniable ledger entry 1\n{before}\n{number}\n{body}")


def check_link(row: Row, number: int, before: str) -> None:
    """Refuses an entry that is not the one of this number, after the one with that hash."""
    if row.number != number:
        raise LedgerBroken(f"Entry {number} is missing: entry {row.number} is in its place.")
    if row.hash != chain(before, number, row.body):
        raise LedgerBroken(f"Entry {number} was changed: its hash is another.")


def check_end(number: int, before: str, anchor: JournalAnchor) -> None:
    """Refuses an end of the chain that is not the anchor's."""
    if (number, before) != (anchor.number, anchor.hash):
        raise LedgerBroken(
            f"The ledger ends at entry {number}, but its signed head is entry "
            f"{anchor.number}: entries were cut off, or added."
        )


def check_chain(rows: Iterable[Row], anchor: JournalAnchor, first: int = 0) -> None:
    """Refuses entries from the first one on that are not those which the anchor signed.

    What is before the first is not asked for, so that one is linked to and no more, unless it
    begins the ledger.
    """
    number, before = first - 1, ""
    for row in rows:
        number += 1
        if number > first or first == 0 or row.number != first:
            check_link(row, number, before)
        before = row.hash
    check_end(number, before, anchor)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class MemoryJournal(Journal):
    """A chain that lives as long as the process, and in no other.

    After a fork there are two copies that know nothing of each other's charges; were both to
    go on, each would grant what is left.
    """

    def __init__(self, key: SigningKey) -> None:
        super().__init__(key)
        self._rows: list[Row] = []
        self._ending: dict[str, Row] = {}
        self._answers: dict[str, list[Row]] = {}
        self._anchor = EMPTY
        self._lock, self._pid = threading.RLock(), os.getpid()

    def view(self) -> AbstractContextManager[JournalView]:
        return _MemoryView(self)

    def append(self, decide: Callable[[JournalView], Decision]) -> list[Row]:
        if self._pid != os.getpid():
            raise LedgerUnavailable(
                "This budget is kept in the memory of another process, from which this one was "
                "forked. Ask there; or, for many processes, give the policy a ledger in a file "
                "(dp.open does) and open it in each. Nothing was spent."
            )
        with self._lock:
            decision = decide(_MemoryView(self))
            if not decision[0]:
                return []
            rows, self._anchor = self.extended(self._anchor, decision)
            self._rows += rows
            for row in rows:
                if row.ends is not None:
                    self._ending[row.ends] = row
                if row.recall is not None:
                    self._answers.setdefault(row.recall, []).append(row)
            return rows

    def whole(self) -> tuple[Iterable[Row], JournalAnchor]:
        with self._lock:
            return tuple(self._rows), self._anchor


class _MemoryView(JournalView):
    """What there is; entries are only ever added, so the lock is not held for it."""

    def __init__(self, journal: MemoryJournal) -> None:
        self._journal, self.anchor = journal, journal._anchor

    def row(self, number: int) -> Row | None:
        rows = self._journal._rows
        return rows[number] if 0 <= number < len(rows) else None

    def ending(self, reservation: str) -> Row | None:
        return self._journal._ending.get(reservation)

    def answers(self, recall: str) -> Sequence[Row]:
        return tuple(self._journal._answers.get(recall, ()))

    def __enter__(self) -> JournalView:
        return self

    def __exit__(self, *_: object) -> None:
        return None
