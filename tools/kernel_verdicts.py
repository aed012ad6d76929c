"""The kernel checks equal plans once in a process of the tests, not before each charge.

A check reads a plan and public facts, never a row, so equal plans have equal verdicts. Many
tests ask the same questions of the same small tables, where a check takes most of the time.
Sessions call the kernel as they always do: only its second verdict on the same plan is the
first one again. The tests of the kernel call it directly, each refusal is derived again, and
at full size nothing is remembered, except by tests that say so themselves
(`plans_checked_once` in tests/release/conftest.py).
"""

import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

_CALLER = "deniable.release.certificate.kernel_check"  # where sessions call the kernel


def remember(check: Callable[..., Any]) -> Callable[..., Any]:
    """A check of plans that derives each verdict once.

    Plans are equal if their texts are, which name every field and the type of every number:
    1 and Fraction(1) are not the same, though they compare equal.

    >>> from fractions import Fraction
    >>> check = remember(lambda plan, facts: print("derived") or plan)
    >>> check(1, "facts"), check(1, "facts"), check(Fraction(1), "facts")
    derived
    derived
    (1, 1, Fraction(1, 1))
    """
    verdicts: dict[bytes, Any] = {}

    def check_once(plan: Any, facts: Any, **options: Any) -> Any:
        key = hashlib.sha256(repr((plan, facts, options)).encode("utf-8", "replace")).digest()
        if key not in verdicts:
            verdicts[key] = check(plan, facts, **options)
        return verdicts[key]

    return check_once


def pytest_collection_finish(session: pytest.Session) -> None:
    full = session.config.getoption("full") or os.environ.get("DENIABLE_FULL")
    if full or "deniable.release" not in sys.modules:
        return
    caller: Any = importlib.import_module(_CALLER)
    caller.check_plan = remember(caller.check_plan)
