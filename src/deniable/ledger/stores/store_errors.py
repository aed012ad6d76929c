"""What a ledger says if its database fails."""

from collections.abc import Iterable

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.stores.patience import held_error

LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code


def ledger_error(
    problem: object, name: str, hidden: Iterable[str] = ()
) -> LedgerUnavailable | LedgerBroken:
    """Our error for a database's, which holds nothing of the ledger.

    `hidden` are parts of its address that may be secrets, and are not repeated.
    """
    if getattr(problem, "sqlstate", "") == LOCK_NOT_AVAILABLE:
        return held_error(name)
    lines = str(problem).strip().splitlines()
    message = lines[0] if lines else type(problem).__name__
    for part in filter(None, hidden):
        message = message.replace(part, "...")
    if "malformed" in message or "not a database" in message:
        return LedgerBroken(f"The ledger {name!r} is damaged: {message}. Restore a copy.")
    if "unable to open" in message or "readonly" in message:
        message += " (is its folder writable? The policy's [ledger] can name another place)"
    return LedgerUnavailable(
        f"The ledger {name!r} cannot be used now: {message}. Nothing was released. A charge "
        "that was reserved, or may have been, stays."
    )
