"""The designs that a manifest's channels stand for are those of the questionnaire."""

import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.privacy.losses.hypothesis_testing import odds_factor
from deniable.surveys import loads
from deniable.surveys.estimate.unbiased_readings import reader_for
from deniable.surveys.questionnaire.designs import design_questions
from deniable.surveys.questionnaire.manifest import make_manifest
from deniable.surveys.results.manifest_designs import design_of, question_loss
from tests.surveys.collected import EVERY_KIND

MANY = "\n".join(f'"option {i}",' for i in range(40))
MORE = f"""
[[questions]]
id = "many"
kind = "single-choice"
text = "Which of many?"
options = [{MANY}]
[[questions]]
id = "boxes"
kind = "multiple-choice"
text = "Which of seven?"
options = ["a", "b", "c", "d", "e", "f", "g"]
prefer_not_to_say = true
"""


@pytest.mark.parametrize("more", ["", MORE])
def test_every_design_is_read_back(more):
    survey = loads(EVERY_KIND + more)
    manifest, designed = make_manifest(survey), design_questions(survey)
    for question in manifest.private:
        original, restored = designed[question.id], design_of(question)
        reports = original.randomize(_answers(question, 20))
        before = reader_for(original)(reports)
        assert reader_for(restored)(reports) == pytest.approx(before)
        assert question_loss(question).epsilon() <= float(question.cost) * (1 + 1e-12)
        assert odds_factor(question_loss(question)) <= odds_factor(original.loss)
    assert design_of(manifest.question("age")) == 2


def _answers(question, people):
    if question.kind == "number":
        return np.full(people, float(question.low))
    if question.kind == "multiple-choice":
        return np.zeros((people, question.answers), dtype=int)
    return np.arange(people) % question.answers


def test_a_channel_of_another_version_is_refused():
    question = make_manifest(loads(EVERY_KIND + MORE)).question("many")
    table = [["3", "1"], ["1", "2"]]  # one bit for each answer, but not OUE's
    changed = question.model_copy(update={"channel": {**question.channel, "table": table}})
    with pytest.raises(InvalidData, match="version of deniable"):
        design_of(changed)
