"""The steps of a watch."""

import datetime
from datetime import date

import pytest

from deniable.errors import InvalidParameter
from deniable.streams.watching.schedule import WatchSchedule, read_day


def test_every_day_is_in_one_step():
    for every in (1, 2, 7, 30, 400):
        steps = WatchSchedule.of("2026-01-01", "2026-12-31", every)
        days = [day for step in range(1, steps.steps + 1) for day in steps.days(step)]
        assert days == [date(2026, 1, 1) + datetime.timedelta(i) for i in range(365)]


@pytest.mark.parametrize("wait", [0, 1, 5])
def test_a_step_is_due_when_its_last_day_is_over(wait):
    steps = WatchSchedule.of("2026-01-01", "2026-01-20", "week")
    for ahead in range(-3, 40):
        through = date(2026, 1, 1) + datetime.timedelta(ahead)
        over = [
            step
            for step in range(1, steps.steps + 1)
            if steps.days(step)[-1] + datetime.timedelta(wait) <= through
        ]
        assert steps.due(through, wait=wait) == len(over)


def test_days():
    assert read_day("2026-03-04", "since") == date(2026, 3, 4)
    assert read_day(datetime.datetime(2026, 3, 4, 12), "since") == date(2026, 3, 4)
    assert WatchSchedule.of(None, date.today(), "day").steps == 1


@pytest.mark.parametrize(
    ("since", "until", "every"),
    [
        ("2026-01-02", "2026-01-01", "day"),
        ("yesterday", "2026-01-01", "day"),
        ("2026-01-01", None, "day"),
        ("2026-01-01", "2026-02-01", "fortnight"),
        ("2026-01-01", "2026-02-01", 0),
    ],
)
def test_refuses(since, until, every):
    with pytest.raises(InvalidParameter):
        WatchSchedule.of(since, until, every)
