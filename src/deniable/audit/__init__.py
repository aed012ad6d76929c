"""Prove the exact epsilon of a program, test any mechanism from outside, or attack your data.

>>> from deniable import audit
>>> def two_coins(x, flip):
...     return x if flip() else flip()
>>> print(audit.prove(two_coins, neighbors=[(0, 1)]).claim)
epsilon = ln 3 = 1.0986122886681098, worst at output 1, inputs 1 and 0
"""

from importlib import import_module

from deniable.audit.plan_check import check_plan
from deniable.audit.prove.curve import EpsilonCurve
from deniable.audit.prove.enumeration import EnumerationResult, check
from deniable.audit.prove.program_outcomes import Limits
from deniable.audit.prove.proof import Proof
from deniable.audit.prove.prover import prove
from deniable.audit.prove.sensitivities import Sensitivity, sensitivity
from deniable.audit.test.assertion import assert_private
from deniable.audit.test.blackbox import Verdict, test

__all__ = [
    "EnumerationResult",
    "EpsilonCurve",
    "Limits",
    "Proof",
    "Sensitivity",
    "Verdict",
    "assert_private",
    "attack",
    "check",
    "check_plan",
    "prove",
    "sensitivity",
    "test",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from deniable.audit import attack


def __getattr__(name: str) -> object:
    if name == "attack":  # it loads sessions, copies and models: only if it is used
        return import_module("deniable.audit.attack")
    raise AttributeError(f"module 'deniable.audit' has no attribute {name!r}")
