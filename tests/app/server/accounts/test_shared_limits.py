import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from deniable.app.server.accounts import shared_limits
from deniable.app.server.accounts.account_stores import open_store
from deniable.app.server.accounts.shared_limits import SharedAddressLimits, SharedLimits
from deniable.errors import ServerUnavailable

HERE = Path(__file__).parent
WORKERS = 4
DAY = 86_400


class Time:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def store(place):
    made = open_store(place)
    yield made
    made.close()


@pytest.fixture
def of_people(store, time):
    """`of_people(most)`: the limits of requests in one more worker."""
    return lambda most: SharedLimits(store, "requests", most, seconds=60, clock=time)


@pytest.fixture
def of_addresses(store, time):
    def make(most, *, key=b"k" * 32, about=""):
        return SharedAddressLimits(
            store, "logins", most, seconds=3600, key=key, about=about, clock=time
        )

    return make


def rows(store):
    with store.reading() as connection:
        return connection.execute("SELECT what, name, period, count FROM limits").fetchall()


@pytest.mark.parametrize(("kind", "most"), [("people", 640), ("people", 7), ("addresses", 50)])
def test_four_workers_at_once_allow_as_much_as_one(place, kind, most):
    """Each goes on until it is refused. All that was taken is spent then: exactly the limit."""
    command = [sys.executable, "-m", "tests.app.server.accounts.limited", kind, str(place)]
    open_store(place).close()
    with ExitStack() as running:
        workers = [
            running.enter_context(
                subprocess.Popen(
                    [*command, str(most)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    cwd=HERE.parents[3],
                )
            )
            for _ in range(WORKERS)
        ]
        for worker in workers:
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            worker.stdin.write("\n")
            worker.stdin.flush()
        allowed = [int(worker.stdout.readline()) for worker in workers]
    assert sum(allowed) == most


def test_who_asks_one_worker_is_allowed_nearly_as_much(of_people):
    most = 640
    first, *others = (of_people(most) for _ in range(WORKERS))
    assert all(worker.allow("ann") for worker in others)
    allowed = 0
    while allowed < 2 * most and first.allow("ann"):
        allowed += 1
    assert most * 0.95 <= allowed + len(others) <= most
    assert first.allow("bob")


def test_few_requests_write(of_people, store, monkeypatch):
    limits, writes, writing = of_people(6400), [], store.writing

    def count():
        writes.append(1)
        return writing()

    monkeypatch.setattr(store, "writing", count)
    assert all(limits.allow("ann") for _ in range(1000))
    assert len(writes) == 10
    assert all(limits.allow("ann") for _ in range(5400))
    before = len(writes)
    assert not any(limits.allow("ann") for _ in range(1000))
    assert len(writes) == before + 1  # what is refused costs nothing


def test_a_new_period_begins_anew_and_old_counts_are_deleted(
    of_people, of_addresses, store, time
):
    people, addresses = of_people(2), of_addresses(2)
    for limits in (people, addresses):
        assert [limits.allow("192.0.2.1") for _ in range(3)] == [True, True, False]
    time.now += 60
    assert people.allow("192.0.2.1")
    assert not addresses.allow("192.0.2.1")
    time.now += DAY
    assert people.allow("bob")
    assert addresses.allow("192.0.2.1")
    assert [row[1] for row in rows(store) if row[0] == "requests"] == ["bob"]
    assert len(rows(store)) == 2


def test_a_network_is_one_address_and_surveys_are_apart(of_addresses):
    limits, other = of_addresses(1), of_addresses(1, about="another survey")
    assert limits.allow("2001:db8::1")
    assert not limits.allow("2001:db8::2")
    assert limits.allow("2001:db8:0:1::2")
    assert limits.allow("192.0.2.1")
    assert not limits.allow("::ffff:192.0.2.1")
    assert other.allow("192.0.2.1")


def test_no_address_and_no_hour_is_written(of_addresses, store, time):
    """The same address has other names with another key, and in another hour."""
    hours = range(3)
    for hour in hours:
        time.now = 30 * DAY + hour * 3600.0
        of_addresses(5).allow("192.0.2.77")
    of_addresses(5, key=b"another").allow("192.0.2.77")
    assert len({name for _, name, _, _ in rows(store)}) == len(hours) + 1
    assert {period for _, _, period, _ in rows(store)} == {30}
    assert "192.0.2" not in str(rows(store))


def test_where_the_store_is_away_nothing_is_allowed(
    of_people, of_addresses, store, monkeypatch
):
    people, addresses = of_people(640), of_addresses(5)
    assert people.allow("ann")

    def fail():
        raise ServerUnavailable("away")

    monkeypatch.setattr(store, "writing", fail)
    for limits in (people, addresses):
        with pytest.raises(ServerUnavailable):
            limits.allow("bob")
    assert all(people.allow("ann") for _ in range(9))  # which this worker had taken before
    with pytest.raises(ServerUnavailable):
        any(not people.allow("ann") for _ in range(10))


def test_many_names_fill_no_memory(of_people, monkeypatch):
    monkeypatch.setattr(shared_limits, "_MOST_NAMES", 10)
    limits = of_people(3)
    for number in range(40):
        assert limits.allow(f"person {number}")
        assert len(limits._held) <= 10
    assert [limits.allow("person 0") for _ in range(3)] == [True, True, False]
