"""The one door from data to released numbers: sessions, ledgers, releases, certificates."""

from deniable.ledger import (
    ChainedLedger,
    DurableLedger,
    Entry,
    FilterUsage,
    Head,
    Ledger,
    MemoryLedger,
    RecalledAnswer,
    Remaining,
    VerifiedLedger,
    verify_ledger,
)
from deniable.release.certificate.certificate import Certificate
from deniable.release.certificate.verification import verify
from deniable.release.opening import open, protect, rehearse
from deniable.release.public_session import Session
from deniable.release.session.release import Release

__all__ = [
    "Certificate",
    "ChainedLedger",
    "DurableLedger",
    "Entry",
    "FilterUsage",
    "Head",
    "Ledger",
    "MemoryLedger",
    "RecalledAnswer",
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
