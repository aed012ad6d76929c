"""The one door from data to the world: sessions, ledgers, and the answers they release."""

from deniable.release.books import Books, MemoryLedger
from deniable.release.certificate import Certificate
from deniable.release.durable import DurableLedger, verify_ledger
from deniable.release.ledger import Entry, Gauge, Head, Ledger, Recalled, Remaining, Verified
from deniable.release.opening import open, protect, rehearse
from deniable.release.release import Release
from deniable.release.session import Session
from deniable.release.verification import verify

__all__ = [
    "Books",
    "Certificate",
    "DurableLedger",
    "Entry",
    "Gauge",
    "Head",
    "Ledger",
    "MemoryLedger",
    "Recalled",
    "Release",
    "Remaining",
    "Session",
    "Verified",
    "open",
    "protect",
    "rehearse",
    "verify",
    "verify_ledger",
]
