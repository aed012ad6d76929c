"""The sums at the end of a ledger: kept in memory, and continued from the entries since then.

The signed head fixes the last hash, and with it every entry before it. The sums follow from the
entries. So the head holds no sums, and a charge costs the same however many accounts there are.
A process that has seen the ledger before reads the entries that others have added since.

A process that opens a long ledger begins at the latest checkpoint: the sums after some entry,
signed like a head. From there it follows the hashes to the head. A checkpoint that is changed,
or of another ledger, has no signature or leads to no head. An older one only costs time, and
without any the sums begin at the first entry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from deniable.ledger.journal import (
    EMPTY,
    Body,
    Decision,
    Journal,
    JournalRow,
    JournalView,
    check_end,
    check_link,
    read_state,
)
from deniable.ledger.replay import LedgerState, check_checkpoint_is_not_ahead
from deniable.ledger.stores.stored_rows import as_written

CHECKPOINT_EVERY = 1_000  # entries between two checkpoints
CHECKPOINT_SIZE = 16_000_000  # or characters: answers may be long


# The entries to append, and the sums after them; None if they change no sum.
Change = tuple[Sequence[Body], LedgerState | None]


@dataclass(frozen=True, slots=True)
class _Known:
    """The sums after an entry, and how far the latest checkpoint is behind it."""

    number: int = EMPTY.number
    hash: str = EMPTY.hash
    state: LedgerState = field(default_factory=LedgerState)
    checkpoint: int = EMPTY.number
    size: int = 0  # characters of the entries since the checkpoint

    def add(self, rows: Sequence[JournalRow], state: LedgerState) -> "_Known":
        size = self.size + sum(len(row.body) for row in rows)
        return _Known(rows[-1].number, rows[-1].hash, state, self.checkpoint, size)

    def with_checkpoint(self, number: int) -> "_Known":
        return replace(self, checkpoint=number, size=0)

    @property
    def is_checkpoint_due(self) -> bool:
        behind = self.number - self.checkpoint
        return behind >= CHECKPOINT_EVERY or self.size >= CHECKPOINT_SIZE


class CurrentState:
    """The sums at the end of a journal. Every method is thread-safe: what is known is replaced
    as a whole."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self._known = journal, _Known()

    def at(self, view: JournalView) -> LedgerState:
        """The sums at the anchor of a view, as a copy that can be charged."""
        if view.anchor == EMPTY:
            return LedgerState()
        known, anchor = self._known, view.anchor
        if (known.number, known.hash) != (anchor.number, anchor.hash):
            known = self._catch_up(view)
            if known.number > self._known.number:
                self._known = known
        return known.state.copy()

    def write(self, decide: Callable[[JournalView], Change]) -> list[JournalRow]:
        """Appends the entries that are decided under the lock."""
        after, checkpoint = LedgerState(), False

        def decide_and_sum(view: JournalView) -> Decision:
            nonlocal after, checkpoint
            bodies, changed = decide(view)
            after = self.at(view) if changed is None else changed
            checkpoint = self._is_checkpoint_due(view)
            return bodies, after.to_json() if checkpoint else None

        rows = self._journal.append(decide_and_sum)
        known = self._known
        if rows and rows[0].number == known.number + 1:  # else another thread has seen more
            known = known.add(rows, after)
            self._known = known.with_checkpoint(known.number) if checkpoint else known
        return rows

    def _is_checkpoint_due(self, view: JournalView) -> bool:
        known = self._known
        if not known.is_checkpoint_due:
            return False
        latest = view.checkpoint_number()  # another process may have made one
        if known.checkpoint < latest <= known.number:
            known = self._known = known.with_checkpoint(latest)
        return known.is_checkpoint_due

    def _catch_up(self, view: JournalView) -> _Known:
        anchor, known = view.anchor, self._known
        summed = read_state(anchor)
        if "accounts" in summed:  # format 1
            return _Known(anchor.number, anchor.hash, LedgerState.from_json(summed))
        if known.number > anchor.number:
            known = _Known()
        if anchor.number - known.number > CHECKPOINT_EVERY:
            known = self._from_checkpoint(view, known)
        state, number, before, size = known.state.copy(), known.number, known.hash, known.size
        for row in view.rows_after(number):
            number += 1
            check_link(row, number, before)
            with as_written(f"Entry {number}"):
                state.apply(number, row.read())
            before, size = row.hash, size + len(row.body)
        check_end(number, before, anchor)
        return _Known(number, before, state, known.checkpoint, size)

    def _from_checkpoint(self, view: JournalView, known: _Known) -> _Known:
        """The latest checkpoint, if it knows more."""
        checkpoint = view.checkpoint()
        check_checkpoint_is_not_ahead(checkpoint, view.anchor)
        if checkpoint.number <= known.number:
            return known
        self._journal.check_signature(checkpoint)
        state = LedgerState.from_json(read_state(checkpoint))
        return _Known(checkpoint.number, checkpoint.hash, state, checkpoint.number)
