"""The checker lives in the house now; this name stays for tests that still use it."""

from deniable.audit.prove.enumeration import EnumerationResult as Verdict
from deniable.audit.prove.enumeration import check

__all__ = ["Verdict", "check"]
