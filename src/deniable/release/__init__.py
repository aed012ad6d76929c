"""The one door from data to the world: sessions, ledgers, and the answers they release."""

from deniable.ledger.chained_ledger import ChainedLedger, MemoryLedger
from deniable.ledger.durable_ledger import DurableLedger, verify_ledger
from deniable.ledger.ledger import (
    Entry,
    Gauge,
    Head,
    Ledger,
    Recalled,
    Remaining,
    VerifiedLedger,
)
from deniable.release.certificate.certificate import Certificate
from deniable.release.certificate.verification import verify
from deniable.release.session.opening import open, protect, rehearse
from deniable.release.session.release import Release
from deniable.release.session.session import Session

__all__ = [
    "Certificate",
    "ChainedLedger",
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
    "VerifiedLedger",
    "open",
    "protect",
    "rehearse",
    "verify",
    "verify_ledger",
]
