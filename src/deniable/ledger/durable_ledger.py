"""A ledger that outlives the process: in a file next to the policy, or in PostgreSQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import LedgerBroken
from deniable.ledger.chained_ledger import ChainedLedger
from deniable.ledger.current_state import Change
from deniable.ledger.floor_mark import NOT_BEGUN, Floor, FloorMark
from deniable.ledger.journal import JournalView, read_state
from deniable.ledger.ledger import Head, Ledger, VerifiedLedger
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.opened_ledger import Clock, utc_now
from deniable.ledger.replay import verify_journal
from deniable.ledger.stores.ledger_formats import WITHOUT_SUMS
from deniable.ledger.stores.signing_keys import PublicKey, SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy
from deniable.policy.ledger_id import new_ledger_id
from deniable.policy.ledger_settings import shown_store

if TYPE_CHECKING:
    from deniable.ledger.database_journal import DatabaseJournal

CHECKED_ON_OPENING = 10_000  # the number of last entries whose hashes are checked


class DurableLedger(ChainedLedger):
    """A ledger in a SQLite file or a PostgreSQL database, signed with the key in a file.

    Any number of processes may use it at once. The key is made with the ledger, and the ledger
    can be continued only with that key. If a ledger was started and is missing, then the record
    of what was spent is lost: only its owner can start a new one.

    >>> import pathlib, tempfile
    >>> from deniable.policy import Policy, Table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ledger.sqlite"
    >>> ledger = DurableLedger(file, Policy([Table("visits")], epsilon=3))
    >>> print(DurableLedger(file, Policy([Table("visits")], epsilon=3)).remaining)
    epsilon 3, delta 0
    """

    def __init__(
        self,
        where: str | Path,
        policy: Policy | Terms,
        *,
        key: str | Path | None = None,
        ledger_id: str | None = None,
        because: str = "",
        read_only: bool = False,
        migrate: bool = False,
        accept: bool = False,
        clock: Clock = utc_now,
    ) -> None:
        path = default_key_path(where) if key is None else Path(key)
        mark = FloorMark(path)
        if not read_only:
            complete_change(where, mark, ledger_id)
        journal = _open_journal(where, mark, ledger_id, read_only=read_only)
        try:
            floor = None
            if journal.empty and not read_only:
                floor = _check_may_begin(where, mark, ledger_id)
                journal.key = SigningKey.read_or_create(path)
            else:
                journal.key = _read_key(path, read_only=read_only)
                needed = not (read_only or accept or "://" in str(where))
                _check_entries(journal, mark, ledger_id, needed=needed, accept=accept)
            use_mark = not (read_only or accept or mark.read() is None)
            journal.mark = mark if use_mark else None
            super().__init__(
                policy if isinstance(policy, Terms) else Terms.from_policy(policy),
                journal,
                ledger_id=floor.id if floor else ledger_id,
                because=because or (floor.because if floor else ""),
                read_only=read_only,
                migrate=migrate,
                clock=clock,
            )
            if not (read_only or use_mark):
                _mark_ledger(self, journal, mark, because if accept else None)
        except BaseException:
            journal.close()
            raise


def _mark_ledger(
    ledger: DurableLedger, journal: "DatabaseJournal", mark: FloorMark, because: str | None
) -> None:
    """Marks a ledger that this host has not seen before, or that its owner accepts."""
    if because is not None:
        ledger.verify()
        _record_acceptance(ledger, because)
    with journal.view() as view, mark.locked():
        if because is not None or mark.read() is None:
            mark.write(Floor(journal.ledger_id(view), view.anchor.number, view.anchor.hash))
    journal.mark = mark


def _record_acceptance(ledger: DurableLedger, because: str) -> None:
    """Adds an entry that says why this ledger is used, although its mark is not here."""

    def accept(view: JournalView) -> Change:
        state = ledger._state(view)
        terms = ledger._current_terms(view, state).to_json()
        body: dict[str, Any] = {"kind": "amended", "terms": terms, "time": ledger._time()}
        body |= {"accepted": view.anchor.number, "because": because.strip()}
        state.apply(view.anchor.number + 1, body)
        return (body,), state

    ledger._current.write(accept)


def complete_change(where: str | Path, mark: FloorMark, ledger_id: str | None) -> None:
    """Completes the owner's step to another ledger, once the policy names that one.

    The older ledger's file gets another name. Its mark is kept until then, so a step that was
    not completed changes nothing.
    """
    floor = mark.read()
    if ledger_id is None or floor is None or floor.next_id != ledger_id:
        return
    with mark.locked_to_begin():
        floor = mark.read()
        if floor is not None and floor.next_id == ledger_id:  # no other process was first
            _set_aside(where)
            mark.write(Floor(ledger_id, because=floor.next_because))


def _set_aside(where: str | Path) -> None:
    """Gives the file of an older ledger another name, and first the journal of a crash."""
    if "://" in str(where):
        return
    file, count = Path(where), 1
    while (aside := file.with_name(f"{file.stem}.{count}{file.suffix}")).exists():
        count += 1
    for end in ("-journal", "-wal", "-shm", ""):
        if (old := Path(f"{file}{end}")).exists():
            old.rename(f"{aside}{end}")


def _check_may_begin(where: str | Path, mark: FloorMark, ledger_id: str | None) -> Floor:
    """The mark under which a ledger may begin; refuses one that must have had entries.

    Without an id, a mark is written first: after a crash it tells that nothing was lost. With
    an id, the mark came with it. Copies of a mark are on other hosts, or in a backup. They do
    not know what happened since, and in a shared database that may be much.
    """
    with mark.locked_to_begin():
        floor = mark.read()
        if floor is None and ledger_id is None and not mark.key.exists():
            floor = Floor(new_ledger_id())
            mark.write(floor)
            return floor
    lost = floor is None or floor.number != NOT_BEGUN or (floor.is_copy and "://" in str(where))
    if floor is None or lost or ledger_id not in (None, floor.id):
        raise lost_error(where, mark, ledger_id or (floor.id if floor else None))
    return floor


def _open_journal(
    where: str | Path, mark: FloorMark, ledger_id: str | None, *, read_only: bool
) -> "DatabaseJournal":
    """The journal. No file is made for a ledger that is lost."""
    from deniable.ledger.database_journal import DatabaseJournal

    exists = "://" in str(where) or Path(where).exists()
    if not exists and not read_only:
        _check_may_begin(where, mark, ledger_id)
    known = ledger_id is not None or mark.read() is not None
    if not exists and read_only and known:
        raise lost_error(where, mark, ledger_id)
    journal = DatabaseJournal(where, create=not read_only)
    if read_only and journal.empty:
        journal.close()
        raise lost_error(where, mark, ledger_id)
    return journal


def _read_key(path: Path, *, read_only: bool) -> SigningKey | PublicKey:
    """The signing key; to read only, the public key is enough."""
    public = Path(f"{path}.pub")
    if read_only and public.is_file():
        return PublicKey(public.read_text(encoding="ascii", errors="replace").strip())
    return SigningKey.read(path)


def _check_entries(
    journal: "DatabaseJournal",
    mark: FloorMark,
    expected: str | None,
    *,
    needed: bool,
    accept: bool,
) -> None:
    """Refuses a ledger whose last entries were changed, and one that is not the policy's, or
    not the one that this host has marked. A host that has not seen it before has no mark:
    that cannot be, if the ledger is a file. Format 1 had no marks."""
    journal.check_last(CHECKED_ON_OPENING)
    floor = mark.read()  # first: it is raised after the ledger is written
    with journal.view() as view:
        ledger_id = journal.ledger_id(view)
        if expected is not None and ledger_id != expected:
            raise LedgerBroken(
                f"The policy names the ledger {expected!r}, but the ledger in its place is "
                f"{ledger_id!r}. Nothing was spent. Restore the policy's own ledger."
            )
        needed = needed and read_state(view.anchor).get("format", 1) >= WITHOUT_SUMS
        if needed if floor is None else floor.id == ledger_id or not accept:
            mark.check(view, ledger_id, floor)


def lost_error(where: str | Path, mark: FloorMark, ledger_id: str | None) -> LedgerBroken:
    """The error for a ledger that was begun and is missing."""
    name = shown_store(where)
    which = "that was signed with this key" if ledger_id is None else f"{ledger_id!r}"
    return LedgerBroken(
        f"The ledger {which} is missing: {name} does not exist, or "
        "is empty. What was spent is not known any more. Restore its latest copy, and "
        f"{str(mark.file)!r}. If the policy was renamed or moved, move its ledger with it. "
        "Only its owner may begin another one, with   deniable ledger begin --because ...   "
        "What a new ledger grants is spent in addition."
    )


def default_key_path(where: str | Path) -> Path:
    """The key's file, next to the ledger's file."""
    return Path(where).with_suffix(".key")


def open_ledger(policy: Policy, *, read_only: bool = False, migrate: bool = False) -> Ledger:
    """The ledger that a policy names; a ledger in memory if it names none.

    `migrate` brings a ledger of an older format to the format of this version.
    """
    if policy.ledger is None and policy.ledger_id is not None:
        raise LedgerBroken(
            f"The policy names the ledger {policy.ledger_id!r}, but its `store` is memory: it "
            "would begin again with the whole budget. Nothing was spent. Restore the `store` "
            "of [ledger]. Without that line the ledger is a file next to the policy."
        )
    if policy.ledger is None:
        return MemoryLedger(terms=Terms.from_policy(policy))
    return DurableLedger(
        policy.ledger,
        policy,
        key=policy.ledger_key,
        ledger_id=policy.ledger_id,
        read_only=read_only,
        migrate=migrate,
    )


def verify_ledger(
    where: str | Path, *, public_key: str, heads: Sequence[Head] = ()
) -> VerifiedLedger:
    """Checks a ledger with the public key only. Anyone can do this."""
    from deniable.ledger.database_journal import DatabaseJournal

    journal = DatabaseJournal(where, PublicKey(public_key), create=False)
    try:
        return verify_journal(journal, heads)
    finally:
        journal.close()
