from fractions import Fraction
from math import log

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import RandomizedResponse
from deniable.surveys.questionnaire.declared_designs import (
    declared_response,
    epsilon_above,
    fits_device,
)


def test_designs_by_name():
    assert declared_response("two-coins") == RandomizedResponse(odds=3)
    assert declared_response("die") == RandomizedResponse(odds=5)
    assert declared_response("cards") == RandomizedResponse.warner(0.7)
    assert declared_response({"warner": "2/3"}).p == Fraction(2, 3)
    assert declared_response({"warner": 0.75}) == RandomizedResponse(odds=3)
    assert declared_response({"crosswise": "1/4"}) == RandomizedResponse.crosswise(0.25)
    unrelated = declared_response({"unrelated": ["1/2", "1/12"]})
    assert unrelated == RandomizedResponse.unrelated(0.5, Fraction(1, 12))


@pytest.mark.parametrize(
    "design",
    ["coins", {"warner": ["1/2", "1/3"]}, {"unrelated": "1/2"}, {}, {"a": 1, "b": 2}, 3],
)
def test_other_designs_are_refused(design):
    with pytest.raises(InvalidParameter, match="two-coins"):
        declared_response(design)


def test_a_rate_must_be_a_number():
    with pytest.raises(InvalidParameter, match="3/4"):
        declared_response({"warner": "often"})
    with pytest.raises(InvalidParameter, match="must differ"):
        declared_response({"warner": "1/2"})


def test_a_birthday_is_not_for_devices():
    assert fits_device(declared_response("die"))
    assert not fits_device(declared_response({"crosswise": 0.25}))
    assert not fits_device(declared_response({"unrelated": [0.5, 0.25]}))


def test_epsilon_is_rounded_up():
    for odds in (Fraction(3), Fraction(5), Fraction(7, 3)):
        assert 0 <= float(epsilon_above(odds)) - log(odds) < 2e-12
