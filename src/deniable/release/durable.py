"""A ledger that outlives the process: in a file beside the policy, or in PostgreSQL."""

from collections.abc import Sequence
from pathlib import Path

from deniable.policy import Policy
from deniable.release.books import Books, Clock, MemoryLedger, utc_now
from deniable.release.keys import Key, PublicKey
from deniable.release.ledger import Head, Ledger, Verified
from deniable.release.replay import replayed
from deniable.release.terms import Terms


class DurableLedger(Books):
    """A ledger in a SQLite file or a PostgreSQL database, signed with the key in a file.

    Any number of processes may use it at once. The key is made with the ledger, and from then
    on the ledger goes on only under it.

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
        from deniable.release.database import Database  # SQLAlchemy: only where it is used

        journal = Database(where)
        path = key_beside(where) if key is None else key
        terms = policy if isinstance(policy, Terms) else Terms.of(policy)
        try:
            journal.key = Key.kept(path) if journal.empty else Key.read(path)
            super().__init__(terms, journal, clock=clock)
        except BaseException:
            journal.close()
            raise


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
) -> Verified:
    """Checks a ledger without the key that signs it, as a stranger can."""
    from deniable.release.database import Database

    journal = Database(where, PublicKey(public_key), create=False)
    try:
        return replayed(*journal.whole(), public_key, heads)
    finally:
        journal.close()
