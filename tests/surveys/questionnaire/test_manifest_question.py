from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter
from deniable.surveys import loads, make_manifest

HEAD = 'id="s"\ntitle="t"\nepsilon=12\n'


def question(kind, more=""):
    text = f'[[questions]]\nid="a"\nkind="{kind}"\ntext="?"\n{more}\n'
    other = '[[questions]]\nid="z"\nkind="yes-no"\ntext="?"\n'
    return make_manifest(loads(HEAD + text + other)).questions[0]


TWELVE = "options=[" + ",".join(f'"o{i}"' for i in range(60)) + "]"


@pytest.mark.parametrize(
    ("kind", "more", "width", "boxes"),
    [
        ("yes-no", "", 1, 0),
        ("yes-no", "private=false", 1, 0),
        ("single-choice", 'options=["x","y"]\nodds=2', 1, 0),
        ("single-choice", f"{TWELVE}\nodds=2", 60, 60),
        ("single-choice", f"{TWELVE}\nprivate=false", 2, 0),
        ("multiple-choice", 'options=["x","y","z"]\nprivate=false', 3, 3),
        ("multiple-choice", 'options=["x","y","z"]\nodds=90', 1, 0),
        ("number", "low=0\nhigh=100\nprivate=false", 3, 0),
        ("number", "low=0\nhigh=99\nprivate=false\nprefer_not_to_say=true", 3, 0),
        ("number", "low=0\nhigh=100", 1, 0),
    ],
)
def test_every_report_has_a_fixed_width(kind, more, width, boxes):
    field = question(kind, more).field
    assert (field.width, field.boxes) == (width, boxes)


def test_a_number_keeps_its_exact_grid():
    number = question("number", "low=-0.3\nhigh=0.9\nstep=0.1")
    assert (number.low, number.high, number.step) == ("-3/10", "9/10", "1/10")
    assert number.steps == 12


def test_what_it_costs_is_stated_by_the_questionnaire():
    assert question("yes-no", "epsilon=2").cost == 2
    assert question("yes-no").cost == 6
    assert question("yes-no", "odds=3").cost == Fraction(1098612288669, 10**12)


def test_sets_of_boxes_go_through_the_coins_at_once_or_apart():
    assert question("multiple-choice", 'options=["x","y","z"]\nodds=90').joint
    assert not question("multiple-choice", f"{TWELVE}").joint


def test_a_crosswise_question_is_not_for_devices():
    crosswise = question("yes-no", 'design={crosswise="1/4"}')
    assert (crosswise.device, crosswise.design, crosswise.paper) == (False, "crosswise", None)
    coins = question("yes-no", 'design="two-coins"')
    assert (coins.device, coins.design, coins.paper) == (True, "two-coins", "two-coins")
    assert question("yes-no", "odds=3").design is None
    warner = question("yes-no", 'design={warner="3/4"}')
    assert (warner.device, warner.design, warner.paper) == (True, "warner", "two-coins")
    unrelated = question("yes-no", 'design={unrelated=["1/2", "1/12"]}')
    assert (unrelated.device, unrelated.design, unrelated.paper) == (False, "unrelated", None)


@pytest.mark.parametrize("private", ["true", "false"])
def test_a_step_that_does_not_divide_the_range_is_refused(private):
    with pytest.raises(
        InvalidParameter, match=r"`step` must divide the range|multiples of `step`"
    ):
        question("number", f"low=0\nhigh=10\nstep=3\nprivate={private}")
