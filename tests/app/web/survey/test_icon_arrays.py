from fractions import Fraction

import pytest

from deniable.app.web.survey.icon_arrays import draw_arrays, illustrate
from deniable.surveys.questionnaire.phrases import Phrases
from tests.app.web.survey.surveys_to_take import manifest_of

WORDS = Phrases()


def question(about):
    return manifest_of(f'[[questions]]\nid = "a"\ntext = "?"\n{about}\n').questions[0]


@pytest.mark.parametrize(
    ("about", "label", "if_true", "if_not"),
    [
        ('kind = "yes-no"\ndesign = "two-coins"', "yes", Fraction(3, 4), Fraction(1, 4)),
        (
            'kind = "yes-no"\nodds = 4\nprefer_not_to_say = true',
            "yes",
            Fraction(2, 3),
            Fraction(1, 6),
        ),
        (
            'kind = "single-choice"\noptions = ["x", "y"]\nodds = 3',
            "x",
            Fraction(3, 4),
            Fraction(1, 4),
        ),
        (
            'kind = "number"\nlow = 0\nhigh = 9\nodds = 3',
            "9, the highest",
            Fraction(3, 4),
            Fraction(1, 4),
        ),
        # of 4 sets 2 hold the box, and the true set has odds of 9 to 1
        (
            'kind = "multiple-choice"\noptions = ["x", "y"]\nodds = 9',
            "ticked",
            Fraction(10, 12),
            Fraction(2, 12),
        ),
    ],
)
def test_the_numbers_are_those_of_the_channel(about, label, if_true, if_not):
    shown = illustrate(question(about), WORDS, "en")
    assert (shown.label, shown.if_true, shown.if_not) == (label, if_true, if_not)
    assert label in shown.reports


def test_a_scale_compares_the_answer_with_the_farthest_one():
    scale = question('kind = "scale"\npoints = 5\nodds = 9')
    shown = illustrate(scale, WORDS, "en")
    assert shown.label == "1"
    assert shown.if_true == scale.drawn_by.probability(0, 0)
    assert shown.if_not == scale.drawn_by.probability(0, 4)


def area(path):
    """How many people a picture's path fills, by the shoelace formula."""
    corners, x, y = [], 0, 0
    for token in (
        path.replace("H", " H").replace("V", " V").replace("Z", "").replace("M0 0", "").split()
    ):
        x, y = (int(token[1:]), y) if token[0] == "H" else (x, int(token[1:]))
        corners.append((x, y))
    corners = [(0, 0), *corners]
    twice = sum(
        a * d - c * b for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1], strict=True)
    )
    return abs(twice) / 2 / 400


@pytest.mark.parametrize("odds", [1.5, 3, 9, 19, 99])
def test_as_many_people_are_filled_as_the_caption_says(odds):
    html = draw_arrays(question(f'kind = "yes-no"\nodds = {odds}'), WORDS, "en")
    paths = [part.split('"')[0] for part in html.split('<path d="')[1:]]
    share = Fraction(str(odds)) / (Fraction(str(odds)) + 1)
    assert [area(path) for path in paths] == [round(100 * share), round(100 * (1 - share))]
    assert f"{round(100 * share)} send “yes”" in html
