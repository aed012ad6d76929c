"""A stream whose state lasts: state first, then the ledger's step, then the answer.

Record 0 of the state says what the stream is; each further record is a reading. The ledger has
one step for each record, with its digest. So:

- As many records as steps, and the same digest: all is well.
- One record more: a crash came between the two. Nobody has seen that answer, and it is
  completed.
- Fewer records, or another digest: the state is an older copy. Going on from it would draw the
  noise of a step again, and both answers together would tell more than was paid for. Refused.
- Steps, but no state: it is lost, and refused as well.
- Record 0, but no charge: a crash before the charge. The stream begins again.
- Readings, but no charge; or readings beyond the next step: the ledger was set back. Refused,
  and the state stays.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.runs import StreamRun
from deniable.policy.names import compared_name
from deniable.privacy import Loss
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.canonical import canonical_text
from deniable.release.session.stream_door import StreamDoor
from deniable.streams.state.sealed_log import MemoryLog, SealedLog

Record = Mapping[str, Any]
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}")
_IN_MEMORY: WeakKeyDictionary[Any, dict[str, MemoryLog]] = WeakKeyDictionary()  # by ledger


class StoredStream:
    """The records of one stream, in step with the ledger."""

    def __init__(
        self,
        door: StreamDoor,
        name: str,
        about: Record,
        *,
        loss: Loss,
        tables: Sequence[str],
        delta: Any,
    ) -> None:
        self.name, self._door, self._tables = _check_name(name), door, tuple(tables)
        self._neighbors: Neighbors = door.neighbors(self._tables)
        self._log = _open_log(door, name)
        with self._log.locked():
            run = door.find(name)
            if run is None:
                self._run = self._begin(about, loss, delta)
            else:
                self._run = run
                self._continue(about)

    @property
    def run(self) -> StreamRun:
        """The charge, and the steps in the ledger."""
        return self._run

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it was charged for."""
        return self._run.entry.tables

    def records(self) -> Iterator[dict[str, Any]]:
        """All readings that the ledger knows. One that it does not know was never shown, and
        may be completed by another process, or lost."""
        self._log.reload()
        for record in self._log.records[1 : self._run.steps]:
            yield _from_bytes(record)

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """One process at a time makes a reading; says whether others have made some."""
        with self._log.locked() as changed:
            run = self._door.find(self.name)
            if run is None:
                raise LedgerBroken(
                    f"The ledger does not know the stream {self.name!r} any more."
                )
            before, self._run = self._run.steps, run
            self._compare()  # and completes a step
            yield changed or run.steps != before

    def add(self, record: Record, plan_hash: str | None = None) -> None:
        """Writes a reading, and then its step in the ledger. Only then may it be shown."""
        digest = self._log.append(_to_bytes(record))
        self._step(digest, plan_hash)

    def _step(self, digest: str, plan_hash: str | None = None) -> None:
        run = self._run
        run.advance(digest, plan_hash=plan_hash, tables=self._tables, neighbors=self._neighbors)

    def _begin(self, about: Record, loss: Loss, delta: Any) -> StreamRun:
        if len(self._log.digests) > 1:
            raise self._set_back(0)
        self._log.remove()  # what a crash before the charge has left: no reading
        digest = self._log.append(_to_bytes(about))
        run = self._run = self._door.reserve(self.name, loss, self._tables, delta)
        self._step(digest)
        return run

    def _continue(self, about: Record) -> None:
        """Compares what is stored with what the ledger knows, and with what is asked for."""
        self._compare()
        begun = _from_bytes(self._log.records[0])
        request = json.loads(canonical_text(dict(about)))
        if begun != request:
            other = [
                name for name in {**begun, **request} if begun.get(name) != request.get(name)
            ]
            raise InvalidParameter(
                f"The stream {self.name!r} was begun with another {', '.join(sorted(other))}. "
                "Give the same, or begin a stream under another name. Nothing was spent."
            )

    def _compare(self) -> None:
        digests, steps = self._log.digests, self._run.steps
        known = digests[steps - 1 : steps] == [self._run.state] if steps else bool(digests)
        if known and len(digests) == steps + 1:
            self._step(digests[-1])  # of a crash between the two
        elif known and len(digests) > steps:
            raise self._set_back(steps)
        elif not known or len(digests) != steps:
            raise LedgerBroken(
                f"The state of the stream {self.name!r} is missing, or an older copy: it has "
                f"{len(digests)} records, and the ledger knows {steps}. With it, numbers would "
                "be drawn again that were shown before. Nothing was read. Restore the latest "
                "state, or begin a stream under another name."
            )

    def _set_back(self, steps: int) -> LedgerBroken:
        return LedgerBroken(
            f"The state of the stream {self.name!r} has {len(self._log.digests)} records, and "
            f"the ledger knows {steps}: the ledger was set back. With it, what was charged and "
            "shown since would be forgotten. Nothing was read, and the state is kept. Restore "
            "the latest ledger."
        )


def stored_about(door: StreamDoor, name: str) -> Record:
    """What a stream was begun with; empty if no stream has this name."""
    records = _open_log(door, _check_name(name)).records
    return _from_bytes(records[0]) if records else {}


def _open_log(door: StreamDoor, name: str) -> MemoryLog | SealedLog:
    folder, own = door.folder, state_name(name, door.records.analyst)
    if folder is None:
        logs = _IN_MEMORY.setdefault(door.records.ledger, {})
        return logs.setdefault(own, MemoryLog())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return SealedLog(folder / own, door.secret())


def state_name(name: str, analyst: str | None) -> str:
    """The file of a stream. Two streams share one only if the ledger takes them for the same:
    it compares the names of analysts, and not the names of files.

    >>> state_name("visits", "Ann") == state_name("visits", "ann")
    True
    >>> state_name("visits", None) == state_name("Visits", None)
    False
    """
    owner = None if analyst is None else compared_name(analyst)
    return f"{hashlib.sha256(canonical_text([owner, name]).encode()).hexdigest()}.state"


def _check_name(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidParameter(
            "The name of a stream has 1 to 100 letters, digits, blanks, dots, - and _. Found "
            f"{name!r}."
        )
    return name


def _to_bytes(record: Record) -> bytes:
    return canonical_text(dict(record)).encode()


def _from_bytes(record: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = {**json.loads(record)}
    return fields
