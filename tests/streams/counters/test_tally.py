"""The tally of a person's whole life."""

import enum
from decimal import Decimal

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.streams.counters.tally import EventTally, person_key


def test_no_person_counts_more_often():
    tally = EventTally(3)
    assert [tally.take("a", 2), tally.take("a", 2), tally.take("a", 2)] == [2, 1, 0]
    assert tally.take("b", 7) == 3
    assert [tally.left("a"), tally.left("c")] == [0, 3]
    assert tally.take("c", -5) == 0


def test_changes_are_those_since_the_last_record():
    tally = EventTally(3)
    tally.take("a", 2)
    assert tally.changes() == {"a": 2}
    tally.keep()
    assert tally.changes() == {}
    tally.take("a", 2)
    again = EventTally(3)
    again.restore({"a": 2})
    again.restore(tally.changes())
    assert again.left("a") == 0


class Label(str):
    """Text that prints as other text."""

    def __str__(self):
        return "other"


class Color(enum.StrEnum):
    RED = "red"


def test_one_person_has_one_name_and_two_have_two():
    numbers = [7, np.int64(7), np.int32(7), np.uint8(7), np.array(7)]
    assert {person_key(number) for number in numbers} == {"int:7"}
    texts = ["red", np.str_("red"), Label("red"), Color.RED]
    assert {person_key(text) for text in texts} == {"str:red"}
    assert len({person_key(7), person_key("7"), person_key("int:7"), person_key(-7)}) == 4
    assert person_key(10**30) == f"int:{10**30}"


NAMELESS = [7.0, np.float64(7), True, np.bool_(True), b"7", ("7",), Decimal(7), object(), None]


@pytest.mark.parametrize("value", NAMELESS, ids=lambda value: type(value).__name__)
def test_other_values_name_no_person(value):
    with pytest.raises(InvalidParameter, match="must be text or a whole number") as error:
        person_key(value)
    assert "7" not in str(error.value)
