"""Prove and test: the exact epsilon of a program, and an auditor that catches broken ones."""

from deniable.audit.coins import Limits
from deniable.audit.curve import Curve
from deniable.audit.proof import Proof, prove

__all__ = ["Curve", "Limits", "Proof", "prove"]
