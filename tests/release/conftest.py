import functools

import pytest

from deniable.release.certificate import kernel_check
from deniable.release.session import plan_check
from tools.kernel_verdicts import remember

_check_once = remember(kernel_check.check_plan)
_says_what_it_reads = functools.cache(plan_check.says_what_it_reads)


@pytest.fixture
def plans_checked_once(monkeypatch):
    """Equal plans are checked once, also in several tests and at full size. A check
    reads the plan and the policy, never a table, and takes most of the time of small tables."""
    monkeypatch.setattr(kernel_check, "check_plan", _check_once)
    monkeypatch.setattr(plan_check, "says_what_it_reads", _says_what_it_reads)
