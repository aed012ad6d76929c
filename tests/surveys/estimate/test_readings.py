"""Readings are unbiased, by enumeration of every report of every design."""

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Rappor
from deniable.surveys.estimate.readings import both, reader
from deniable.surveys.questionnaire.designs import DesignedQuestion
from tests.surveys.designs import DESIGNS, answers, meaning, moments


@pytest.mark.parametrize("name", DESIGNS)
def test_every_reading_is_unbiased(name):
    design = DESIGNS[name]
    read = reader(design)
    means, _ = moments(design, read)
    assert means == pytest.approx(meaning(design), abs=1e-9)
    assert read.answers == means.shape[1]
    sums = meaning(design).sum(axis=1)
    assert read.adds_up == np.allclose(sums, 1)


@pytest.mark.parametrize("name", DESIGNS)
def test_reports_are_read_as_enumerated(name):
    """The readings of real reports have the mean of their answer."""
    design = DESIGNS[name]
    read, people = reader(design), 20_000
    means, squares = moments(design, read)
    truth = answers(design)[-1]
    given = np.repeat(truth[None], people, axis=0)
    reports = design.randomize(given)
    found = read(reports).mean(axis=0)
    error = np.sqrt((squares[-1] - means[-1] ** 2) / people)
    assert (np.abs(found - meaning(design)[-1]) <= 7 * error + 1e-12).all()


@pytest.mark.parametrize(
    "name", [x for x in DESIGNS if not isinstance(DESIGNS[x], DesignedQuestion)]
)
def test_blind_answers_are_uniform(name):
    design = DESIGNS[name]
    careless = reader(design).careless
    if name == "number or not":
        assert careless == pytest.approx([1 / 3] * 3)
    else:  # all answers equally often
        assert careless == pytest.approx(meaning(design).mean(axis=0))


def test_blind_ticks():
    assert reader(DESIGNS["box by box"]).careless.tolist() == [0.5] * 7
    assert reader(DESIGNS["boxes or not"]).careless.tolist() == [0.25, 0.25, 0.5]


def test_what_cannot_be_read_is_refused():
    with pytest.raises(InvalidParameter, match="decode"):
        reader(Rappor())
    with pytest.raises(InvalidData):
        reader(DESIGNS["three"])([3])
    with pytest.raises(InvalidData, match="as many"):
        both([1], [1, 2])
