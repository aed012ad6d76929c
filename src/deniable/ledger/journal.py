"""The journal that a ledger is stored in: a chain of entries, and its anchor.

Entry n carries a hash of its own text and of the hash of entry n - 1. So a change anywhere
changes every later hash. The anchor is one row: the last entry's number and hash, the ledger's
format, and a signature over all three. Appends lock the anchor, so the journal does not rely on
a database's isolation of transactions. The anchor's signature is checked before it is used.

A checkpoint is an anchor of an earlier moment that also holds the sums of that moment. The sums
follow from the entries, so only the latest checkpoint is kept, and the anchor needs none.
"""

import hashlib
import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.exact.foreign_text import read_json
from deniable.ledger.ledger import Head
from deniable.ledger.stores.holds import MemoryHolds
from deniable.ledger.stores.ledger_formats import (
    FORMAT,
    WITHOUT_SUMS,
    head_state,
    later_format,
)
from deniable.ledger.stores.signing_keys import PublicKey, SigningKey, signature_is_valid
from deniable.ledger.stores.stored_rows import as_written
from deniable.policy.names import compared_name
from deniable.query.plan.canonical import canonical_text

Body = Mapping[str, Any]

_ID = "id."  # how the `ends` of the one reservation of a question id begins


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One entry as it is stored.

    `ends` and `recall` are index columns, made from the body (see `lookup_keys`): the
    reservation that the entry ends, and the question that it answers. No two entries have the
    same `ends`. So that an id has one reservation, it is the `ends` of that reservation.
    """

    number: int
    body: str
    hash: str
    ends: str | None
    recall: str | None

    @property
    def ends_a_charge(self) -> bool:
        """Whether it says how a charge ended, and is no charge itself."""
        return self.ends is not None and not self.ends.startswith(_ID)

    def read(self) -> dict[str, Any]:
        """The body, parsed."""
        with as_written(f"Entry {self.number}"):
            body: dict[str, Any] = {**read_json(self.body)}
            return body


@dataclass(frozen=True, slots=True)
class JournalAnchor:
    """The end of the chain: the last entry, what is known about it, and a signature over both.

    `state` is JSON: the format; in a checkpoint, and in format 1, all sums too.
    """

    number: int
    hash: str
    state: str
    signature: str

    @property
    def head(self) -> Head:
        """The signed head."""
        return Head(self.number, self.hash, digest(self.state), self.signature)


EMPTY = JournalAnchor(-1, "", "", "")

Decision = tuple[
    Sequence[Body], Any
]  # the entries; the sums after them for a checkpoint, or None


class JournalView(ABC):
    """What a decision can read."""

    anchor: JournalAnchor

    @abstractmethod
    def row(self, number: int) -> JournalRow | None: ...

    @abstractmethod
    def ending(self, reservation: str) -> JournalRow | None:
        """The entry that ended a reservation."""

    @abstractmethod
    def answers(self, recall: str) -> Sequence[JournalRow]:
        """The entries that ask or answer a question, in order."""

    @abstractmethod
    def rows_after(self, number: int) -> Iterator[JournalRow]:
        """The entries after a number, up to the anchor, in order."""

    @abstractmethod
    def checkpoint(self) -> JournalAnchor:
        """The latest checkpoint, or EMPTY. Its signature is not checked."""

    @abstractmethod
    def checkpoint_number(self) -> int:
        """The number of the entry of the latest checkpoint, or -1."""


class Journal(ABC):
    """A chain of entries. Many processes may append to it; a lock puts them in order."""

    def __init__(self, key: SigningKey | PublicKey) -> None:
        self.key = key
        self._last_signed = EMPTY  # the latest anchor whose signature was checked or made here

    @abstractmethod
    def view(self) -> AbstractContextManager[JournalView]:
        """What is committed now, read without a lock."""

    @abstractmethod
    def append(self, decide: Callable[[JournalView], Decision]) -> list[JournalRow]:
        """Calls `decide` under the lock, and makes its decision durable before returning."""

    @abstractmethod
    def read_all(self) -> tuple[Iterable[JournalRow], JournalAnchor]:
        """Every entry, and the anchor of the same moment. Nothing is checked.

        The entries are read while they are used, so that they need not fit into memory.
        """

    @abstractmethod
    def hold(self, token: str) -> AbstractContextManager[bool]:
        """Locks a token while a question is answered; the lock ends with the process.

        Never waits: it says False if another holds the token.
        """

    @abstractmethod
    def is_held(self, token: str) -> bool:
        """Whether any process holds a token."""

    def check_pages(self) -> None:
        """Raises `LedgerBroken` if the store finds itself damaged."""
        return

    def raise_mark(self) -> None:
        """Notes outside the store how far this ledger is, if there is such a mark."""
        return

    def close(self) -> None:
        """Closes the store."""
        return

    def check_signed(self, anchor: JournalAnchor) -> JournalAnchor:
        """Returns the anchor if this ledger's key signed it."""
        if anchor in (EMPTY, self._last_signed):
            return anchor  # `check_not_rolled_back` finds a ledger that became empty again
        self.check_signature(anchor)
        self.remember_signed(anchor)
        return anchor

    def check_signature(self, anchor: JournalAnchor) -> None:
        """Refuses an anchor or a checkpoint that this ledger's key did not sign."""
        read_state(anchor)
        if not signature_is_valid(anchor.head.message, anchor.signature, self.key.public):
            raise LedgerBroken(
                "The ledger's head, or its checkpoint, is not signed by its key: it was "
                "changed, or it is another ledger. Nothing was spent. Find the change with "
                "`deniable ledger verify`."
            )

    def check_not_rolled_back(self, anchor: JournalAnchor) -> JournalAnchor:
        """Returns the locked anchor if it is not older than one that was seen before."""
        seen = self._last_signed
        if anchor.number < seen.number or (anchor.number == seen.number and anchor != seen):
            raise LedgerBroken(
                f"The ledger was set back: it ended at entry {seen.number}, and now ends at "
                f"entry {anchor.number}. Nothing was spent. Restore its latest copy."
            )
        return anchor

    def remember_signed(self, anchor: JournalAnchor) -> None:
        """Remembers a committed anchor with a good signature."""
        if anchor.number > self._last_signed.number:
            self._last_signed = anchor

    def extend(
        self, anchor: JournalAnchor, decision: Decision
    ) -> tuple[list[JournalRow], JournalAnchor, JournalAnchor | None]:
        """The rows to append, the anchor after them, and a checkpoint if there is to be one."""
        bodies, sums = decision
        rows = list(_chain(anchor, bodies))
        after = self._sign(rows[-1], head_state(_format_after(anchor, bodies)))
        checkpoint = None if sums is None else self._sign(rows[-1], canonical_text(sums))
        return rows, after, checkpoint

    def _sign(self, last: JournalRow, state: str) -> JournalAnchor:
        unsigned = JournalAnchor(last.number, last.hash, state, "")
        return replace(unsigned, signature=self.key.sign(unsigned.head.message))


def read_state(anchor: JournalAnchor) -> dict[str, Any]:
    """What an anchor says about its ledger. One of a later format is refused."""
    with as_written("The ledger's head or checkpoint"):
        state: dict[str, Any] = {**json.loads(anchor.state)}
        if state.get("format", 1) > FORMAT:
            raise later_format(state["format"])
        return state


def _format_after(anchor: JournalAnchor, bodies: Sequence[Body]) -> int:
    changed = [body["format"] for body in bodies if "format" in body]
    before = FORMAT if anchor == EMPTY else read_state(anchor).get("format", 1)
    return max(WITHOUT_SUMS, changed[-1] if changed else before)


def _chain(anchor: JournalAnchor, bodies: Iterable[Body]) -> Iterator[JournalRow]:
    number, before = anchor.number, anchor.hash
    for body in bodies:
        text, number = canonical_text(dict(body)), number + 1
        before = entry_hash(before, number, text)
        yield JournalRow(number, text, before, *lookup_keys(body))


def lookup_keys(body: Body) -> tuple[str | None, str | None]:
    """The index columns of an entry: the reservation that it ends, and the question that it
    answers or asks, or the step that it is."""
    is_ending = body["kind"] in ("settled", "failed")
    ends = reservation_id(body["of"], body["place"]) if is_ending else None
    if body["kind"] == "repeated" or "record" in body:
        return ends, recall_key(body["plan"], body["version"])
    if body["kind"] == "step":
        return ends, step_key(body["of"], body["step"])
    if "stream" in body:  # the one reservation of a stream; no question id is like this
        return question_key(body["analyst"], f"stream\n{body['stream']}"), None
    if "holder" in body:  # a reservation that others may wait for
        if "question_id" in body:
            ends = question_key(body["analyst"], body["question_id"])
        return ends, recall_key(body["plans"][0]["plan"], body["version"])
    return ends, None


def reservation_id(number: int, place: int) -> str:
    """The name of one reservation: its entry, and its place among those in that entry."""
    return f"{number}.{place}"


def question_key(analyst: str | None, question_id: str) -> str:
    """The name of a question id, which belongs to one analyst."""
    name = None if analyst is None else compared_name(analyst)
    return _ID + digest(canonical_text([name, question_id]))


def step_key(run: int, step: int) -> str:
    """The name of one step of a run."""
    return f"{run}.step.{step}"


def recall_key(plan_hash: str, version: str) -> str:
    """The name of a question: a plan on a version of the data."""
    return digest(canonical_text([plan_hash, version]))


def entry_hash(before: str, number: int, body: str) -> str:
    """The hash of an entry, over its body and the hash of the entry before it."""
    return digest(f"deniable ledger entry 1\n{before}\n{number}\n{body}")


def check_link(row: JournalRow, number: int, before: str) -> None:
    """Refuses an entry that does not have this number, or does not follow the hash `before`."""
    if row.number != number:
        raise LedgerBroken(f"Entry {number} is missing: entry {row.number} is in its place.")
    if row.hash != entry_hash(before, number, row.body):
        raise LedgerBroken(f"Entry {number} was changed: it does not match its hash.")


def check_end(number: int, before: str, anchor: JournalAnchor) -> None:
    """Refuses a chain that does not end where the anchor says."""
    if (number, before) != (anchor.number, anchor.hash):
        raise LedgerBroken(
            f"The ledger ends at entry {number}, but its signed head is entry "
            f"{anchor.number}: entries were removed or added at the end."
        )


def check_chain(rows: Iterable[JournalRow], anchor: JournalAnchor, first: int = 0) -> None:
    """Refuses entries, from number `first` on, that do not lead to the anchor.

    The entry before the first is not known. So the first entry's own hash is not checked,
    unless it begins the ledger.
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
    """A journal in memory. It lives as long as the process, and a fork cannot append to it.

    After a fork there are two copies, and neither sees the charges of the other. If both could
    append, each would grant all that is left.
    """

    def __init__(self, key: SigningKey) -> None:
        super().__init__(key)
        self._rows: list[JournalRow] = []
        self._ending: dict[str, JournalRow] = {}
        self._answers: dict[str, list[JournalRow]] = {}
        self._anchor, self._checkpoint, self._holds = EMPTY, EMPTY, MemoryHolds()
        self._lock, self._pid = threading.RLock(), os.getpid()

    def view(self) -> AbstractContextManager[JournalView]:
        return _MemoryView(self)

    def append(self, decide: Callable[[JournalView], Decision]) -> list[JournalRow]:
        if self._pid != os.getpid():
            raise LedgerUnavailable(
                "This ledger is in the memory of the parent process, from which this process "
                "was forked. Ask in the parent process. For several processes, use a ledger in "
                "a file (as dp.open does) and open it in each. Nothing was spent."
            )
        with self._lock:
            decision = decide(_MemoryView(self))
            if not decision[0]:
                return []
            rows, self._anchor, checkpoint = self.extend(self._anchor, decision)
            self._checkpoint = checkpoint or self._checkpoint
            self._rows += rows
            for row in rows:
                if row.ends is not None:
                    self._ending[row.ends] = row
                if row.recall is not None:
                    self._answers.setdefault(row.recall, []).append(row)
            return rows

    def read_all(self) -> tuple[Iterable[JournalRow], JournalAnchor]:
        with self._lock:
            return tuple(self._rows), self._anchor

    def hold(self, token: str) -> AbstractContextManager[bool]:
        return self._holds.hold(token)

    def is_held(self, token: str) -> bool:
        return self._holds.is_held(token)


class _MemoryView(JournalView):
    """The current entries. Entries are only added, so reading needs no lock."""

    def __init__(self, journal: MemoryJournal) -> None:
        self._journal, self.anchor = journal, journal._anchor

    def row(self, number: int) -> JournalRow | None:
        rows = self._journal._rows
        return rows[number] if 0 <= number < len(rows) else None

    def ending(self, reservation: str) -> JournalRow | None:
        return self._journal._ending.get(reservation)

    def answers(self, recall: str) -> Sequence[JournalRow]:
        return tuple(self._journal._answers.get(recall, ()))

    def rows_after(self, number: int) -> Iterator[JournalRow]:
        return iter(self._journal._rows[number + 1 : self.anchor.number + 1])

    def checkpoint(self) -> JournalAnchor:
        return self._journal._checkpoint

    def checkpoint_number(self) -> int:
        return self._journal._checkpoint.number

    def __enter__(self) -> JournalView:
        return self

    def __exit__(self, *_: object) -> None:
        return None
