"""A ledger that outlives the process: in a file next to the policy, or in PostgreSQL."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import LedgerBroken
from deniable.ledger.chained_ledger import ChainedLedger
from deniable.ledger.floor_mark import NOT_BEGUN, Floor, FloorMark
from deniable.ledger.ledger import Head, Ledger, VerifiedLedger
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.opened_ledger import Clock, utc_now
from deniable.ledger.replay import verify_journal
from deniable.ledger.stores.signing_keys import PublicKey, SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy
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
        clock: Clock = utc_now,
    ) -> None:
        from deniable.ledger.database_journal import DatabaseJournal

        path = default_key_path(where) if key is None else Path(key)
        mark = FloorMark(path)
        floor = mark.read()  # first: the mark is raised after the ledger is written
        expected = ledger_id or (floor.id if floor else None)
        if _is_lost(floor, ledger_id) and not _may_exist(where):
            raise lost_error(where, mark, expected)
        journal = DatabaseJournal(where, create=not read_only)
        terms = policy if isinstance(policy, Terms) else Terms.from_policy(policy)
        try:
            if journal.empty:
                if read_only or _is_lost(floor, ledger_id):
                    raise lost_error(where, mark, expected)
                journal.key = SigningKey.read_or_create(path)
            else:
                journal.key = _read_key(path, read_only=read_only)
                _check_entries(journal, mark, ledger_id)
            journal.mark = None if read_only else mark
            super().__init__(
                terms,
                journal,
                ledger_id=expected,
                because=because,
                read_only=read_only,
                migrate=migrate,
                clock=clock,
            )
            if floor is None and not read_only:
                journal.raise_mark()
        except BaseException:
            journal.close()
            raise


def _is_lost(floor: Floor | None, ledger_id: str | None) -> bool:
    """Whether a ledger that has no entries must have had some."""
    if floor is not None and floor.number != NOT_BEGUN:
        return True
    return ledger_id is not None and (floor is None or floor.id != ledger_id)


def _may_exist(where: str | Path) -> bool:
    return "://" in str(where) or Path(where).exists()


def _read_key(path: Path, *, read_only: bool) -> SigningKey | PublicKey:
    """The signing key; to read only, the public key is enough."""
    public = Path(f"{path}.pub")
    if read_only and public.is_file():
        return PublicKey(public.read_text(encoding="ascii", errors="replace").strip())
    return SigningKey.read(path)


def _check_entries(journal: "DatabaseJournal", mark: FloorMark, expected: str | None) -> None:
    """Refuses a ledger whose last entries were changed, and one that is not the policy's, or
    not the one that this host has marked."""
    journal.check_last(CHECKED_ON_OPENING)
    with journal.view() as view:
        found = journal.ledger_id(view)
        if expected is not None and found != expected:
            raise LedgerBroken(
                f"The policy names the ledger {expected!r}, but the ledger in its place is "
                f"{found!r}. Nothing was spent. Restore the policy's own ledger."
            )
        mark.check(view, found)


def lost_error(where: str | Path, mark: FloorMark, ledger_id: str | None) -> LedgerBroken:
    """The error for a ledger that was begun and is missing."""
    name = shown_store(where)
    return LedgerBroken(
        f"The ledger {ledger_id!r} of this policy is missing: {name} does not exist, or is "
        "empty. What was spent is not known any more. Restore its latest copy, and "
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
