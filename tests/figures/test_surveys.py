"""Survey pictures show the estimates' own numbers."""

import pytest

from deniable import price
from deniable.errors import InvalidParameter
from deniable.figures import surveys
from deniable.mechanisms import OUE, RandomizedResponse
from deniable.surveys import loads, parse_reports, report, simulate

SURVEY = loads(
    'id="s"\ntitle="t"\nepsilon=2\n'
    '[[questions]]\nid="a"\nkind="scale"\ntext="How?"\npoints=5\n'
    '[[questions]]\nid="b"\nkind="number"\ntext="Many?"\nlow=0\nhigh=9\n'
)


def test_estimates_and_intervals_are_drawn():
    scale, mean = report(SURVEY, simulate(SURVEY, 500).collected).results
    (axes,) = surveys.estimates(scale).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["5", "4", "3", "2", "1"]
    ends = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert sorted(ends) == sorted(estimate.interval for estimate in scale.estimates[:5])
    (axes,) = surveys.estimates(mean).axes
    assert axes.lines[0].get_xdata() == pytest.approx(mean.estimates[0].interval)


def test_margins_are_those_of_the_planner():
    coins = RandomizedResponse(odds=3)
    (axes,) = surveys.margins({"coins": coins, "direct": None}).axes
    first = axes.lines[0]
    n, margin = first.get_xdata()[0], first.get_ydata()[0]
    assert margin == price.expected_margin(coins, n=int(n))
    with pytest.raises(InvalidParameter, match="at least one"):
        surveys.margins({})


def test_designs_over_answers():
    (axes,) = surveys.designs_by_answers(1, most=12).axes
    curves = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert curves["OUE"][3] == OUE(epsilon=1, categories=5).variance(0, respondents=1)
    assert curves["RandomizedResponse"][-1] > curves["RandomizedResponse"][0]


def test_long_questions_are_wrapped():
    text = (
        "Have you ever used a substance that was forbidden in your sport, in any season? " * 2
    )
    survey = loads(
        f'id="s"\ntitle="t"\nepsilon=4\n[[questions]]\nid="a"\nkind="yes-no"\ntext="{text}"\n'
    )
    (rare,) = report(
        survey, parse_reports(survey, ['{"a":0}'] * 9700 + ['{"a":1}'] * 300)
    ).results
    (axes,) = surveys.estimates(rare).axes
    lines = axes.get_title(loc="left").split("\n")
    assert len(lines) > 2
    assert max(map(len, lines)) <= 62


def test_long_answers_leave_room_for_what_is_drawn():
    survey = loads(
        'id="s"\ntitle="t"\nepsilon=4\n[[questions]]\nid="a"\nkind="single-choice"\n'
        f'text="{"Who was it that asked you first? " * 5}"\n'
        f'options=["{"a doctor who works for a club, " * 5}", "a coach", "a friend"]\n'
    )
    (result,) = report(survey, parse_reports(survey, ['{"a":0}'] * 90)).results
    (axes,) = surveys.estimates(result).axes
    lines = [line for tick in axes.get_yticklabels() for line in tick.get_text().split("\n")]
    assert len(lines) == 5
    assert max(map(len, lines)) <= 28
    axes.figure.draw_without_rendering()
    whole = axes.figure.bbox
    for text in (axes._left_title, *axes.get_yticklabels()):
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1


def test_small_shares_fill_the_axis():
    survey = loads(
        'id="s"\ntitle="t"\nepsilon=4\n[[questions]]\nid="a"\nkind="yes-no"\ntext="a"\n'
    )
    (rare,) = report(
        survey, parse_reports(survey, ['{"a":0}'] * 9700 + ['{"a":1}'] * 300)
    ).results
    (axes,) = surveys.estimates(rare).axes
    assert axes.get_xlim()[0] == 0
    assert rare.estimates[0].interval[1] < axes.get_xlim()[1] <= 0.1
