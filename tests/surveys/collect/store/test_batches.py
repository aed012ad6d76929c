import datetime

import pytest

from deniable.surveys.collect.store import batches
from deniable.surveys.collect.store.batches import insert_batch, read_batches, shuffle
from tests.surveys.collect.store import crashing


@pytest.fixture
def connection(tmp_path):
    store = crashing.open_store(str(tmp_path / "s.sqlite"), tmp_path)
    with store._database.writing() as opened:
        yield opened
    store.close()


class Clock(datetime.datetime):
    today = (2026, 11, 17)

    @classmethod
    def now(cls, zone):
        return cls(*cls.today, 23, 59, tzinfo=zone)


def test_days_never_go_back(connection, monkeypatch):
    """A clock that was set back would otherwise make the results unreadable."""
    monkeypatch.setattr(batches.datetime, "datetime", Clock)
    for day in (17, 18, 16):
        Clock.today = (2026, 11, day)
        insert_batch(connection, [b"a report"])
    assert [batch.day.day for batch in read_batches(connection)] == [17, 18, 18]
    assert [batch.number for batch in read_batches(connection)] == [1, 2, 3]


def test_an_empty_batch_is_not_written(connection):
    insert_batch(connection, [])
    assert read_batches(connection) == []


def test_every_order_is_equally_likely(size):
    draws = size(small=6_000, full=600_000, what="shuffles of three reports")
    counts = {}
    for _ in range(draws):
        order = tuple(shuffle([b"a", b"b", b"c"]))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    chi_square = sum((count - draws / 6) ** 2 / (draws / 6) for count in counts.values())
    assert chi_square < 50.0  # 1.4e-9 with 5 degrees of freedom
    swapped = dict(counts)
    first, second, *_ = swapped
    moved = int(draws / 6 * 0.25)
    swapped[first] += moved
    swapped[second] -= moved
    assert sum((n - draws / 6) ** 2 / (draws / 6) for n in swapped.values()) > 50.0
