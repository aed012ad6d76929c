"""A ledger that outlives the process: in a file beside the policy, or in PostgreSQL."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.chained_ledger import (
    ChainedLedger,
    Clock,
    MemoryLedger,
    utc_now,
)
from deniable.ledger.ledger import Head, Ledger, VerifiedLedger
from deniable.ledger.replay import replayed
from deniable.ledger.signing_keys import PublicKey, SigningKey
from deniable.ledger.terms import Terms
from deniable.policy import Policy

CHECKED = 10_000  # entries, the last ones, whose hashes are checked whenever one is opened


class DurableLedger(ChainedLedger):
    """A ledger in a SQLite file or a PostgreSQL database, signed with the key in a file.

    Any number of processes may use it at once. The key is made with the ledger, and from then
    on the ledger goes on only under it. A ledger that was begun and is not there any more was
    lost, with all that was spent: it is not begun anew unless its owner says so.

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
        from deniable.ledger.database_journal import Database

        path = key_beside(where) if key is None else Path(key)
        mark = Mark(path, where)
        begun = mark.there  # before the ledger is looked at: it is marked once it has entries
        if begun and "://" not in str(where) and not Path(where).exists():
            raise mark.lost()
        journal = Database(where)
        terms = policy if isinstance(policy, Terms) else Terms.of(policy)
        try:
            if begun and journal.empty:
                raise mark.lost()
            journal.key = SigningKey.kept(path) if journal.empty else SigningKey.read(path)
            if not journal.empty:
                journal.check_last(CHECKED)
            super().__init__(terms, journal, clock=clock)
            mark.make()
        except BaseException:
            journal.close()
            raise


class Mark:
    """Notes beside a key which ledgers were begun under it."""

    def __init__(self, key: Path, where: str | Path) -> None:
        self.file, self.where = Path(f"{key}.begun"), str(where)
        if "://" in self.where:
            self.name = self.where.rpartition("@")[2]  # who connects, and how, does not matter
        else:
            self.name = os.path.relpath(Path(where).absolute(), key.absolute().parent)

    @property
    def there(self) -> bool:
        """Whether this ledger was begun."""
        try:
            return self.name in self.file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        except (OSError, UnicodeDecodeError):
            raise LedgerUnavailable(f"{str(self.file)!r} cannot be read.") from None

    def make(self) -> None:
        """Notes it, once; a folder that cannot be written to does not stop a ledger."""
        if self.there:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with suppress(OSError), os.fdopen(os.open(self.file, flags, 0o600), "ab") as out:
            out.write(f"{self.name}\n".encode())

    def lost(self) -> LedgerBroken:
        """What to say of a ledger that is not there any more."""
        return LedgerBroken(
            f"The ledger {self.name!r} was begun and is gone: what was spent is not known any "
            "more. Restore its latest copy. Only its owner may begin anew, knowing that what "
            f"is granted then comes on top, by deleting {str(self.file)!r}."
        )


def key_beside(where: str | Path) -> Path:
    """The key's file, beside the ledger's."""
    return Path(where).with_suffix(".key")


def ledger_of(policy: Policy) -> Ledger:
    """The ledger that a policy names; one in memory if it names none."""
    if policy.ledger is None:
        return MemoryLedger(terms=Terms.of(policy))
    return DurableLedger(policy.ledger, policy, key=policy.ledger_key)


def verify_ledger(
    where: str | Path, *, public_key: str, heads: Sequence[Head] = ()
) -> VerifiedLedger:
    """Checks a ledger without the key that signs it, as a stranger can."""
    from deniable.ledger.database_journal import Database

    journal = Database(where, PublicKey(public_key), create=False)
    try:
        return replayed(*journal.whole(), public_key, heads)
    finally:
        journal.close()
