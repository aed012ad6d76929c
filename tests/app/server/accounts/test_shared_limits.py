import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
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
    opened = open_store(place)
    yield opened
    opened.close()


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
        return connection.execute(
            "SELECT what, name, period, count FROM shared_limits"
        ).fetchall()


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


@pytest.mark.parametrize("before", [1, 7, 21, 40])
@pytest.mark.parametrize("workers", [4, 64])
def test_who_asks_one_worker_in_the_end_is_allowed_nearly_as_much(of_people, workers, before):
    """What 63 workers took and did not spend is a twentieth of what they spent, at most."""
    most = 3000
    first, *others = (of_people(most) for _ in range(workers))
    assert all(worker.allow("ann") for worker in others for _ in range(before))
    allowed = 0
    while allowed < 2 * most and first.allow("ann"):
        allowed += 1
    assert most * 0.95 <= allowed + len(others) * before <= most
    assert first.allow("bob")


def test_few_requests_write(of_people, store, monkeypatch):
    limits, writes, writing = of_people(6400), [], store.writing

    def count(**how):
        writes.append(1)
        return writing(**how)

    monkeypatch.setattr(store, "writing", count)
    assert all(limits.allow("ann") for _ in range(6400))
    before = len(writes)
    assert before < 150
    assert not any(limits.allow("ann") for _ in range(1000))
    assert len(writes) <= before + 1  # what is refused costs nothing


def test_a_new_period_begins_anew_and_old_counts_are_deleted(
    of_people, of_addresses, store, time
):
    people, addresses = of_people(2), of_addresses(2)
    for limits in (people, addresses):
        assert [limits.allow("192.0.2.1") for _ in range(3)] == [True, True, False]
    time.now += 60
    assert people.allow("192.0.2.1")
    assert not addresses.allow("192.0.2.1")
    time.now += 2 * DAY
    assert people.allow("bob")
    assert addresses.allow("192.0.2.1")
    assert [row[1] for row in rows(store) if row[0] == "requests"] == ["bob"]
    assert len(rows(store)) == 2


def test_a_clock_that_is_behind_begins_no_new_count(store, time):
    """Two workers at the turn of a minute, whose clocks differ by a second."""
    behind, most = Time(), 64
    time.now = 6e4
    behind.now = time.now - 1
    workers = [
        SharedLimits(store, "requests", most, seconds=60, clock=clock)
        for clock in (time, behind)
    ]
    allowed = sum(workers[number % 2].allow("ann") for number in range(10 * most))
    assert allowed == most
    behind.now += 1
    assert not workers[1].allow("ann")
    for clock in (time, behind):
        clock.now += 60
    assert workers[1].allow("ann")


def test_a_clock_that_was_far_ahead_keeps_nobody_out(of_people, time):
    time.now += DAY
    assert [of_people(1).allow("ann") for _ in range(2)] == [True, False]
    time.now -= DAY
    assert [of_people(1).allow("ann") for _ in range(2)] == [True, False]


def test_many_networks_fill_no_database(of_addresses, store, time, monkeypatch):
    """There are as many rows as buckets, and one request deletes few old ones."""
    monkeypatch.setattr(shared_limits, "_BUCKETS", 16)
    monkeypatch.setattr(shared_limits, "_AT_ONCE", 5)
    limits = of_addresses(1000)
    for number in range(100):
        assert limits.allow(f"2001:db8:0:{number:x}::1")
    assert len(rows(store)) == 16
    time.now += 2 * DAY
    left = []
    for _ in range(5):
        assert limits.allow("192.0.2.1")
        left.append(sum(row[2] < time.now // DAY for row in rows(store)))
    assert left[0] >= 10
    assert all(fewer >= before - 6 for before, fewer in pairwise(left))
    assert left[-1] == 0


def test_two_addresses_of_a_thousand_seldom_share_a_bucket(of_addresses):
    limits = of_addresses(1)
    buckets = {limits.name_of(f"192.0.{n // 256}.{n % 256}", 7) for n in range(1000)}
    assert len(buckets) > 940


def test_the_time_to_wait_is_until_the_period_ends(of_people, of_addresses, time):
    time.now = 36_000.0 + 3590
    assert (of_people(1).wait("ann"), of_addresses(1).wait("192.0.2.1")) == (10, 10)
    time.now = 36_000.0
    assert of_addresses(1).wait("192.0.2.1") == 3600


def test_a_database_that_is_busy_is_not_waited_for_long(of_people, store, monkeypatch):
    monkeypatch.setattr(shared_limits, "_PATIENCE", 0.05)
    limits = of_people(1)
    with (
        ThreadPoolExecutor(1) as another,
        store.writing(),
        pytest.raises(ServerUnavailable),
    ):
        another.submit(limits.allow, "ann").result()
    assert limits.allow("ann")


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
    assert all(people.allow("ann") for _ in range(201))

    def fail(**_):
        raise ServerUnavailable("away")

    monkeypatch.setattr(store, "writing", fail)
    for limits in (people, addresses):
        with pytest.raises(ServerUnavailable):
            limits.allow("bob")
    with pytest.raises(ServerUnavailable):
        all(people.allow("ann") for _ in range(10))  # of which it had taken some before


def test_many_names_fill_no_memory(of_people, monkeypatch):
    monkeypatch.setattr(shared_limits, "_MOST_NAMES", 10)
    limits = of_people(3)
    for number in range(40):
        assert limits.allow(f"person {number}")
        assert len(limits._held) <= 10
    assert [limits.allow("person 0") for _ in range(3)] == [True, True, False]
