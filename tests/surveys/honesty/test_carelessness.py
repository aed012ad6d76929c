"""Careless answers are taken out of questions of every design."""

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import bernoulli, uniform_below
from deniable.exact.rationals import rational
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import attention, remove_careless_answers
from deniable.surveys.questionnaire.designs import DesignedQuestion
from tests.surveys.designs import DESIGNS, answers, meaning

ANCHOR = RandomizedResponse(odds=9)
CAREFUL = 0.75


def blind(design, people):
    """Any answer."""
    if isinstance(design, DesignedQuestion):
        return uniform_below(2, people * design.options).reshape(people, -1)
    every = answers(design)
    if np.isnan(every.astype(float)).any():  # low, high, or nothing said
        return np.array([0.0, 4.0, np.nan])[uniform_below(3, people)]
    return every[uniform_below(len(every), people)]


def surveyed(design, people):
    """Reports, those of an anchor, and the mean true answer of the attentive."""
    every = answers(design)
    weights = np.arange(1, len(every) + 1)
    kinds = np.repeat(np.arange(len(every)), weights)
    who = kinds[uniform_below(len(kinds), people)]
    follows = bernoulli(rational(CAREFUL), people)
    shape = (people,) + (1,) * (every.ndim - 1)
    given = np.where(follows.reshape(shape), every[who], blind(design, people))
    moon = np.where(follows, False, bernoulli(rational(0.5), people))
    truth = weights @ meaning(design) / weights.sum()
    return design.randomize(given), ANCHOR.randomize(moon), truth


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_is_recovered(name, size):
    people = size(small=40_000, full=200_000, what="people of whom a quarter is careless")
    design = DESIGNS[name]
    reports, moon, truth = surveyed(design, people)
    estimate = attention(ANCHOR, ANCHOR.aggregate(moon))
    assert abs(estimate.share - CAREFUL) < 7 * estimate.error
    cleaned = remove_careless_answers(design, reports, estimate)
    assert (np.abs(cleaned.shares - truth) < 7 * cleaned.standard_error + 1e-12).all()
    naive = cleaned.reader(reports)
    error = np.sqrt(naive.var(axis=0) / people)
    off = np.abs(naive.mean(axis=0) - truth) / np.maximum(error, 1e-12)
    assert people < 200_000 or (off > 7).any()  # the test can tell
    if cleaned.reader.ends:
        mean, error = cleaned.mean()
        assert abs(mean - 4 * truth[1] / truth[:2].sum()) < 7 * error


@pytest.mark.parametrize("name", ["yes/no", "OUE", "ordinal", "hybrid", "number or not"])
def test_errors_are_as_stated(name, size):
    groups = size(small=300, full=2000, what="careless surveys of 1,000 people")
    design = DESIGNS[name]
    reports, moon, truth = surveyed(design, 1000 * groups)
    squares, stated = [], []
    for i in range(groups):
        some = slice(1000 * i, 1000 * (i + 1))
        estimate = attention(ANCHOR, ANCHOR.aggregate(moon[some]))
        cleaned = remove_careless_answers(design, reports[some], estimate)
        squares.append((cleaned.shares - truth) ** 2)
        stated.append(cleaned.standard_error**2)
    # The ratio has a standard deviation of 8 % at 300 surveys, of 3 % at 2,000.
    within = 0.16 if groups >= 2000 else 0.45
    assert np.sum(squares) == pytest.approx(np.sum(stated), rel=within)


def test_refusals():
    with pytest.raises(InvalidParameter, match="at random"):
        attention(ANCHOR, (40, 60))
    estimate = attention(ANCHOR, (90, 10))
    with pytest.raises(InvalidData, match="two reports"):
        remove_careless_answers(ANCHOR, [1], estimate)
    with pytest.raises(InvalidParameter, match="scores"):
        remove_careless_answers(ANCHOR, [1, 0], estimate).mean()
