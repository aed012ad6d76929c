"""Texts of numbers: ends are rounded outwards, and shifts up."""

from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.surveys.estimate.look_rules import LookRule
from deniable.surveys.results.number_texts import (
    interval_text,
    round_outwards,
    shift_text,
    value_text,
)
from deniable.surveys.results.result_numbers import ResultNumber

FOUND = LookRule(anytime=False).share(400, 1000, Fraction(3, 4), Fraction(1, 4))


def number(low, high, *, answer=1, influence=0.0015, consistent=True):
    estimate = replace(FOUND.estimate, interval=(low, high), consistent=consistent)
    finding = replace(FOUND, estimate=estimate, influence=influence)
    return ResultNumber("doping", answer, "yes", finding)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.1239, 0.3601, "12.3 % to 36.1 %"),
        (0.0, 1.0, "0.0 % to 100.0 %"),
        (0.25, 0.5, "25.0 % to 50.0 %"),
    ],
)
def test_no_interval_is_shown_narrower_than_it_is(low, high, text):
    assert interval_text(number(low, high)) == text


def test_means_keep_their_unit():
    assert interval_text(number(-1.239, 2.341, answer=-1)) == "−1.24 to 2.35"
    assert value_text(number(0, 1, answer=-1)) == "0.30"
    assert round_outwards((-0.1234, 0.1), 2) == (-0.13, 0.1)


def test_reports_that_do_not_fit_have_no_interval():
    text = interval_text(number(float("nan"), float("nan"), consistent=False))
    assert text == "does not fit the design"


def test_shifts_are_rounded_up_and_end_at_everything():
    assert shift_text(number(0, 1), 1) == "± 0.2 points"
    assert shift_text(number(0, 1), 10) == "± 1.5 points"
    assert shift_text(number(0, 1), 100_000) == "± 100.0 points"
    assert shift_text(number(0, 1, answer=-1, influence=0.013), 10) == "± 0.13"
    assert shift_text(number(0, 1, influence=float("inf")), 1) == "by any amount"
