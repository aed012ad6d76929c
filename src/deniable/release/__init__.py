"""The one door from data to the world: sessions, ledgers, and the answers they release."""

from deniable.release.ledger import Entry, Ledger, MemoryLedger, Remaining
from deniable.release.release import Release
from deniable.release.session import Session, open, protect

__all__ = [
    "Entry",
    "Ledger",
    "MemoryLedger",
    "Release",
    "Remaining",
    "Session",
    "open",
    "protect",
]
