import functools

import pytest

from deniable.release.certificate import kernel_check
from deniable.release.session import plan_check


@pytest.fixture
def plans_checked_once(monkeypatch):
    """Equal plans are checked once. A check reads the plan and the policy, never a table, and
    takes most of the time where the tables are small."""
    verdicts = {}

    def check_once(plan, facts, *, check=kernel_check.check_plan):
        key = repr((plan, facts))
        if key not in verdicts:
            verdicts[key] = check(plan, facts)
        return verdicts[key]

    once = functools.cache(plan_check.says_what_it_reads)
    monkeypatch.setattr(kernel_check, "check_plan", check_once)
    monkeypatch.setattr(plan_check, "says_what_it_reads", once)
