import functools

import pytest

from deniable.release.certificate import kernel_check
from deniable.release.session import plan_check

_VERDICTS = {}
_says_what_it_reads = functools.cache(plan_check.says_what_it_reads)


@pytest.fixture
def plans_checked_once(monkeypatch):
    """Equal plans are checked once, also in several tests. A check reads the plan and the
    policy, never a table, and takes most of the time where the tables are small."""

    def check_once(plan, facts, *, check=kernel_check.check_plan, **options):
        key = repr((plan, facts, options))
        if key not in _VERDICTS:
            _VERDICTS[key] = check(plan, facts, **options)
        return _VERDICTS[key]

    monkeypatch.setattr(kernel_check, "check_plan", check_once)
    monkeypatch.setattr(plan_check, "says_what_it_reads", _says_what_it_reads)
