"""Phones and paper are pooled by their own channels, never by their counts."""

import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import RandomizedResponse
from deniable.surveys import pool
from deniable.surveys.paper.mode_pooling import pool_modes
from tests.surveys.collected import ONE_QUESTION, answered, manifest_of

PAPER = ONE_QUESTION.replace('"two-coins"', '"die"').replace("epsilon = 1.1", "epsilon = 2")


def test_each_mode_is_read_by_its_own_channel():
    phone, paper = manifest_of(ONE_QUESTION), manifest_of(PAPER)
    modes = [(phone, answered(phone, 400, 600)[1]), (paper, answered(paper, 370, 630)[1])]
    (answer,) = pool_modes(modes)
    expected = pool(
        [
            (RandomizedResponse(odds=3), (600, 400)),
            (RandomizedResponse(odds=5), (630, 370)),
        ]
    )
    assert answer.pooled == expected
    assert [mode.value for mode in answer.modes] == pytest.approx([0.3, 0.305])
    assert answer.pooled.homogeneity > 0.5
    added = pool([(RandomizedResponse(odds=3), (1230, 770))])  # wrong: counts are added
    assert abs(added.value - answer.pooled.value) > 0.02


def test_modes_that_disagree_are_seen():
    phone, paper = manifest_of(ONE_QUESTION), manifest_of(PAPER)
    modes = [(phone, answered(phone, 400, 600)[1]), (paper, answered(paper, 200, 800)[1])]
    assert pool_modes(modes)[0].pooled.homogeneity < 1e-6


def test_modes_without_a_common_question_are_refused():
    phone = manifest_of(ONE_QUESTION)
    other = manifest_of(ONE_QUESTION.replace('id = "doping"', 'id = "other"'))
    reports = [other.write_report({"other": 1})]
    with pytest.raises(InvalidData, match="share no private question"):
        pool_modes([(phone, answered(phone, 1, 1)[1]), (other, reports)])
