"""How much work a failed log-in is does not tell whether the name exists.

The time is that of the processor, which other processes on the machine do not change much.
"""

import random
import time
from statistics import median

import pytest
from scipy import stats

from deniable.app.server.accounts.password_login import PasswordLogin
from deniable.app.server.accounts.passwords import Passwords

LARGEST_T = 4.5
ENOUGH = 100  # pairs, for a test of means


@pytest.fixture
def passwords():
    return Passwords(memory=2048)


def measure(login, clock, pairs):
    """Processor seconds of failed log-ins of Ann, who exists, and of Eve, who does not."""
    order, times = random.Random(7), {"ann": [], "eve": []}
    for _ in range(pairs):
        clock.turn(minutes=15)  # earlier tries are forgotten
        for name in order.sample(["ann", "eve"], 2):
            begin = time.process_time()
            assert login.check(name, "incorrect horse battery") is None
            times[name].append(time.process_time() - begin)
    return times


def difference(times):
    """Welch's t, without its sign."""
    return abs(stats.ttest_ind(times["ann"], times["eve"], equal_var=False).statistic)


def test_known_and_unknown_names_take_as_long(identities, passwords, clock, size):
    pairs = size(small=15, full=1000, what="pairs of failed log-ins")
    identities.people.add("ann", role="analyst", password_hash=passwords.hash("x" * 20))
    login = PasswordLogin(identities.people, passwords)
    times = measure(login, clock, pairs)
    assert 0.5 < median(times["ann"]) / median(times["eve"]) < 2
    assert pairs < ENOUGH or difference(times) < LARGEST_T


def test_the_measure_sees_a_server_that_hashes_only_for_known_names(
    identities, passwords, clock, monkeypatch
):
    identities.people.add("ann", role="analyst", password_hash=passwords.hash("x" * 20))
    login = PasswordLogin(identities.people, passwords)
    check = passwords.check
    monkeypatch.setattr(
        passwords, "check", lambda given, kept: kept is not None and check(given, kept)
    )
    times = measure(login, clock, 15)
    assert median(times["ann"]) / median(times["eve"]) > 2
