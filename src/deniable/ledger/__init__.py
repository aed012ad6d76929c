"""Ledgers: what is spent and what is left, as a chain of signed entries."""

from deniable.ledger.chained_ledger import ChainedLedger
from deniable.ledger.durable_ledger import DurableLedger, verify_ledger
from deniable.ledger.ledger import (
    Entry,
    FilterUsage,
    Head,
    Ledger,
    RecalledAnswer,
    Remaining,
    ReservedRun,
    VerifiedLedger,
)
from deniable.ledger.memory_ledger import MemoryLedger

__all__ = [
    "ChainedLedger",
    "DurableLedger",
    "Entry",
    "FilterUsage",
    "Head",
    "Ledger",
    "MemoryLedger",
    "RecalledAnswer",
    "Remaining",
    "ReservedRun",
    "VerifiedLedger",
    "verify_ledger",
]
