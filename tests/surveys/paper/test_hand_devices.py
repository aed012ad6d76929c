"""Only a question whose channel is thrown by hand has a card."""

import pytest

from deniable.errors import InvalidParameter
from deniable.surveys import lint, loads
from deniable.surveys.paper.hand_devices import make_device
from deniable.surveys.questionnaire.declared_designs import PAPER_DESIGNS
from deniable.surveys.questionnaire.hand_tables import DEVICES
from deniable.surveys.questionnaire.manifest import make_manifest

HEAD = 'id="s"\ntitle="t"\nepsilon=6\n[[questions]]\nid="a"\ntext="?"\n'
THREE = 'options = ["x", "y", "z"]\nodds = 34\nprefer_not_to_say = false'


def survey(declared, kind="yes-no"):
    return loads(f'{HEAD}kind="{kind}"\n{declared}')


def question(declared, kind="yes-no"):
    return make_manifest(survey(declared, kind)).questions[0]


def test_questions_that_no_hand_can_ask():
    for declared, kind in (
        ("low = 0\nhigh = 9", "number"),
        ('options = ["a", "b"]', "multiple-choice"),
    ):
        with pytest.raises(InvalidParameter, match="cannot be asked on paper"):
            make_device(question(declared, kind))
    with pytest.raises(InvalidParameter, match="A device is one of two-coins"):
        make_device(question('design = "die"'), "roulette")
    with pytest.raises(InvalidParameter, match="No coins, dice, cards or spinner"):
        make_device(question("epsilon = 1"))
    with pytest.raises(InvalidParameter, match="No card for cards can draw"):
        make_device(question('design = "die"'), "cards")


@pytest.mark.parametrize(
    "design", ['{crosswise = "1/4"}', '{unrelated = ["1/2", "1/12"]}'], ids=["crosswise", "un"]
)
@pytest.mark.parametrize("name", [None, *DEVICES])
def test_a_question_with_a_birthday_has_no_card(design, name):
    with pytest.raises(InvalidParameter, match="use a birthday"):
        make_device(question(f"design = {design}"), name)


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ('design = "two-coins"', "yes-no"),
        ('design = {warner = "1/4"}', "yes-no"),
        ('design = {crosswise = "1/4"}', "yes-no"),
        ("odds = 4\nprefer_not_to_say = true", "yes-no"),
        (THREE, "single-choice"),
        ('options = ["x", "y"]\nodds = 3', "multiple-choice"),
    ],
    ids=["coins", "warner", "crosswise", "three", "34 of 36", "boxes"],
)
def test_manifest_and_lint_promise_only_what_has_a_card(declared, kind):
    promised = question(declared, kind).paper
    for paper in PAPER_DESIGNS:
        form = survey(f'{declared}\npaper = "{paper}"', kind)
        refused = any("On paper" in str(finding) for finding in lint(form))
        try:
            make_device(question(declared, kind), paper)
        except InvalidParameter:
            assert refused
            assert promised != paper
        else:
            assert not refused
            assert promised is not None
