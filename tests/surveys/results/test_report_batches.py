"""Whole batches, and the one look that the manifest fixes."""

import datetime

import pytest

from deniable.errors import InvalidData
from deniable.surveys.results.report_batches import read_batches
from tests.surveys.collected import ONE_QUESTION, answered, manifest_of

DATED = ONE_QUESTION.replace("planned_people = 1000", "closes = 2026-11-20")
BOTH = ONE_QUESTION.replace(
    "planned_people = 1000", "planned_people = 1000\ncloses = 2026-11-20"
)
NEITHER = ONE_QUESTION.replace("planned_people = 1000", "")


def look(text, days_and_sizes, *, closed=False):
    manifest = manifest_of(text)
    batches = [answered(manifest, n, 0, day) for day, n in days_and_sizes]
    return read_batches(manifest, batches, closed=closed).planned_look


def test_the_look_comes_with_the_batch_that_reaches_the_number():
    first, second, third = ("2026-11-17", 950), ("2026-11-18", 50), ("2026-11-19", 50)
    assert look(ONE_QUESTION, [first]) is None
    assert look(ONE_QUESTION, [first], closed=True) is None  # closed at will
    assert look(ONE_QUESTION, [first, second]) == 2
    for closed in (False, True):
        assert look(ONE_QUESTION, [first, second, third], closed=closed) == 2


def test_closing_at_will_does_not_make_the_look():
    """The last batch came because somebody closed: perhaps because of what the others said."""
    first, second = ("2026-11-17", 950), ("2026-11-18", 99)
    assert look(ONE_QUESTION, [first, second], closed=True) is None
    assert look(ONE_QUESTION, [("2026-11-17", 2000)], closed=True) is None
    assert look(BOTH, [first, second], closed=True) is None
    assert look(BOTH, [first, ("2026-11-21", 99)], closed=True) == 2  # the day had come


def test_the_look_comes_after_the_closing_day():
    before, on, after = ("2026-11-19", 60), ("2026-11-20", 60), ("2026-11-21", 60)
    assert look(DATED, [before, on]) is None  # the day is not over
    assert look(DATED, [before, on], closed=True) is None  # closed at will during the day
    assert look(DATED, [before], closed=True) is None  # closed at will
    assert look(DATED, [before, after]) == 2
    assert look(DATED, [before, on, after]) == 3
    assert look(DATED, [before, on, after], closed=True) == 3


def test_the_number_or_the_day_whichever_comes_first():
    assert look(BOTH, [("2026-11-17", 1000), ("2026-11-25", 60)]) == 1
    assert look(BOTH, [("2026-11-17", 60), ("2026-11-25", 1000)]) == 2
    assert look(NEITHER, [("2026-11-17", 2000)], closed=True) is None


def test_batches_are_read_in_their_order():
    manifest = manifest_of(ONE_QUESTION)
    day, bodies = answered(manifest, 1, 1)
    batches = read_batches(manifest, [(datetime.date(2026, 11, 16), bodies), (day, bodies[:1])])
    assert batches.days == ("2026-11-16", "2026-11-17")
    assert batches.sizes == [2, 1]
    assert batches.first(1).respondents == 2
    assert batches.first(2).reports["doping"].tolist() == [1, 0, 1]
    with pytest.raises(InvalidData, match="go back"):
        read_batches(manifest, [(day, bodies), ("2026-11-16", bodies)])
    with pytest.raises(InvalidData, match="Batch 1: a day"):
        read_batches(manifest, [("yesterday", bodies)])


def test_a_body_that_no_device_sent_is_refused():
    manifest, other = manifest_of(ONE_QUESTION), manifest_of(NEITHER)
    foreign = other.write_report({"doping": 1})
    day, bodies = answered(manifest, 1, 1)
    with pytest.raises(InvalidData, match="Batch 2, report 3: The report is refused"):
        read_batches(manifest, [(day, bodies), (day, [*bodies, foreign])])
