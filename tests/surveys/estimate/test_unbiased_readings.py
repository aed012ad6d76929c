"""Readings are unbiased, by enumeration of every report of every design."""

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Rappor
from deniable.surveys.estimate.unbiased_readings import count_pairs, reader_for
from deniable.surveys.questionnaire.designs import DesignedQuestion
from tests.surveys.designs import DESIGNS, answers, meaning, moments


@pytest.mark.parametrize("name", DESIGNS)
def test_every_reading_is_unbiased(name):
    design = DESIGNS[name]
    read = reader_for(design)
    means, _ = moments(design, read)
    assert means == pytest.approx(meaning(design), abs=1e-9)
    assert read.answers == means.shape[1]
    sums = meaning(design).sum(axis=1)
    assert read.adds_up == np.allclose(sums, 1)


@pytest.mark.parametrize("name", DESIGNS)
def test_reports_are_read_as_enumerated(name):
    """The readings of real reports have the mean of their answer."""
    design = DESIGNS[name]
    read, people = reader_for(design), 20_000
    means, squares = moments(design, read)
    truth = answers(design)[-1]
    given = np.repeat(truth[None], people, axis=0)
    reports = design.randomize(given)
    readings = read(reports).mean(axis=0)
    error = np.sqrt((squares[-1] - means[-1] ** 2) / people)
    assert (np.abs(readings - meaning(design)[-1]) <= 7 * error + 1e-12).all()


@pytest.mark.parametrize(
    "name", [x for x in DESIGNS if not isinstance(DESIGNS[x], DesignedQuestion)]
)
def test_blind_answers_are_uniform(name):
    design = DESIGNS[name]
    careless = reader_for(design).careless
    if name == "number or not":
        assert careless == pytest.approx([1 / 3] * 3)
    else:  # all answers equally often
        assert careless == pytest.approx(meaning(design).mean(axis=0))


def test_blind_ticks():
    assert reader_for(DESIGNS["box by box"]).careless.tolist() == [0.5] * 7
    assert reader_for(DESIGNS["boxes or not"]).careless.tolist() == [0.25, 0.25, 0.5]


def test_what_cannot_be_read_is_refused():
    with pytest.raises(InvalidParameter, match="decode"):
        reader_for(Rappor())
    with pytest.raises(InvalidData):
        reader_for(DESIGNS["three"])([3])
    with pytest.raises(InvalidData, match="same number"):
        count_pairs([1], [1, 2])
