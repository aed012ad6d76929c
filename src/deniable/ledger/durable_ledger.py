"""A ledger that outlives the process: in a file next to the policy, or in PostgreSQL."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.chained_ledger import ChainedLedger, Clock, utc_now
from deniable.ledger.ledger import Head, Ledger, VerifiedLedger
from deniable.ledger.memory_ledger import MemoryLedger
from deniable.ledger.replay import replay_ledger
from deniable.ledger.signing_keys import PublicKey, SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy

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
        clock: Clock = utc_now,
    ) -> None:
        from deniable.ledger.database_journal import DatabaseJournal

        path = default_key_path(where) if key is None else Path(key)
        mark = CreationMark(path, where)
        started = mark.exists  # read it first: a ledger is marked once it has entries
        if started and "://" not in str(where) and not Path(where).exists():
            raise mark.lost_error()
        journal = DatabaseJournal(where)
        terms = policy if isinstance(policy, Terms) else Terms.from_policy(policy)
        try:
            if started and journal.empty:
                raise mark.lost_error()
            journal.key = (
                SigningKey.read_or_create(path) if journal.empty else SigningKey.read(path)
            )
            if not journal.empty:
                journal.check_last(CHECKED_ON_OPENING)
            super().__init__(terms, journal, clock=clock)
            mark.write()
        except BaseException:
            journal.close()
            raise


class CreationMark:
    """A file next to the key, with the names of the ledgers that were started with that key."""

    def __init__(self, key: Path, where: str | Path) -> None:
        self.file, self.where = Path(f"{key}.begun"), str(where)
        if "://" in self.where:
            self.name = self.where.rpartition("@")[2]  # without user and password
        else:
            self.name = os.path.relpath(Path(where).absolute(), key.absolute().parent)

    @property
    def exists(self) -> bool:
        """Whether this ledger was started."""
        try:
            return self.name in self.file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        except (OSError, UnicodeDecodeError):
            raise LedgerUnavailable(f"{str(self.file)!r} cannot be read.") from None

    def write(self) -> None:
        """Adds this ledger's name, once. A folder that is not writable is no error."""
        if self.exists:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with suppress(OSError), os.fdopen(os.open(self.file, flags, 0o600), "ab") as out:
            out.write(f"{self.name}\n".encode())

    def lost_error(self) -> LedgerBroken:
        """The error for a ledger that was started and is missing."""
        return LedgerBroken(
            f"The ledger {self.name!r} is missing: what was spent is not known any more. "
            "Restore its latest copy. Only its owner may start a new one, by deleting "
            f"{str(self.file)!r}. What a new ledger grants is spent in addition."
        )


def default_key_path(where: str | Path) -> Path:
    """The key's file, next to the ledger's file."""
    return Path(where).with_suffix(".key")


def open_ledger(policy: Policy) -> Ledger:
    """The ledger that a policy names; a ledger in memory if it names none."""
    if policy.ledger is None:
        return MemoryLedger(terms=Terms.from_policy(policy))
    return DurableLedger(policy.ledger, policy, key=policy.ledger_key)


def verify_ledger(
    where: str | Path, *, public_key: str, heads: Sequence[Head] = ()
) -> VerifiedLedger:
    """Checks a ledger with the public key only. Anyone can do this."""
    from deniable.ledger.database_journal import DatabaseJournal

    journal = DatabaseJournal(where, PublicKey(public_key), create=False)
    try:
        return replay_ledger(*journal.read_all(), public_key, heads)
    finally:
        journal.close()
