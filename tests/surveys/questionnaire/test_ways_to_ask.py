import math

import pytest

from deniable.surveys import compare_ways_to_ask


def test_published_figures():
    five = compare_ways_to_ask(5, epsilon=2, prevalence=0.1)
    assert (five.split, five.one_each, five.jointly) == pytest.approx(
        (6.257, 1.355, 8.866), abs=5e-4
    )
    assert five.best == "one each"
    assert "1.36" in five.why or "1.35" in five.why
    assert "6.26" in five.why
    two = compare_ways_to_ask(2, epsilon=2, prevalence=0.1)
    assert (two.split, two.one_each, two.jointly) == pytest.approx(
        (1.011, 0.542, 0.501), abs=5e-4
    )
    assert two.best == "jointly"
    many = compare_ways_to_ask(5, epsilon=4, prevalence=0.1)
    assert (many.one_each, many.jointly) == pytest.approx((0.545, 0.478), abs=5e-4)


def test_one_question_is_one_question():
    ways = compare_ways_to_ask(1, epsilon=1)
    assert ways.split == pytest.approx(ways.one_each)
    assert ways.split == pytest.approx(ways.jointly)
    assert compare_ways_to_ask(50, epsilon=1).jointly == math.inf
