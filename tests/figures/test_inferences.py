"""The lines are the intervals, and nothing else."""

import math
from dataclasses import replace

import pytest

from deniable import infer
from deniable.errors import InvalidParameter
from deniable.figures import inferences
from deniable.infer import Inferred

FOUND = [
    Inferred("A less B", 0.2, (0.1, 0.3), (0.15, 0.25), (0.12, 0.28), 0.95),
    Inferred("A less C", -0.1, (-0.2, 0.05), (-0.12, -0.08), (-0.18, 0.0), 0.95),
]


def ends(lines):
    return [(start[0], end[0]) for start, end in lines.get_segments()]


def test_lines_are_the_intervals():
    (axes,) = inferences.intervals(FOUND).axes
    whole, noise = axes.collections
    assert ends(whole) == [estimate.interval for estimate in FOUND]
    assert ends(noise) == [estimate.noise for estimate in FOUND]
    assert list(axes.lines[0].get_xdata()) == [estimate.value for estimate in FOUND]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A less B", "A less C"]


def test_no_difference_is_marked_if_it_is_near():
    (near,), (far,) = (infer.plot(some).axes for some in (FOUND, FOUND[:1]))
    assert len(near.lines) == 2
    assert len(far.lines) == 1


def test_differences_that_may_be_nothing_are_grey():
    (axes,) = inferences.differences(FOUND).axes
    unclear, _, clear, noise = axes.collections
    assert ends(clear) == [FOUND[0].interval]
    assert ends(noise) == [FOUND[0].noise]
    assert ends(unclear) == [FOUND[1].interval]
    assert axes.lines[0].get_xdata() == [0.0, 0.0]
    assert axes.get_xlabel() == "difference"
    ratio = Inferred(
        "x of A over that of B", 1.2, (1.1, 1.3), (1.15, 1.25), None, 0.95, null=1.0
    )
    (axes,) = inferences.differences([ratio]).axes
    assert axes.lines[0].get_xdata() == [1.0, 1.0]
    assert axes.get_title(loc="left").startswith("Ratios")
    with pytest.raises(InvalidParameter, match="drawn apart"):
        inferences.differences([*FOUND, ratio])


def test_a_group_that_is_called_over_65_makes_no_ratio():
    named = replace(FOUND[0], what="share of over 65 less that of B")
    (axes,) = inferences.differences([named]).axes
    assert axes.lines[0].get_xdata() == [0.0, 0.0]
    assert len([c for c in axes.collections if c.get_segments()]) == 2


def test_grey_lines_are_explained_if_all_are_grey():
    for some in (FOUND, FOUND[1:]):
        (legend,) = inferences.differences(some).legends
        names = {text.get_text() for text in legend.get_texts()}
        assert names == {"no difference", "in all", "from noise"}


def test_an_interval_without_an_end_is_drawn_to_the_edge():
    ratio = Inferred("A over B", 1.2, (0.4, math.inf), (0.6, math.inf), None, 0.95, null=1.0)
    (axes,) = inferences.differences([ratio]).axes
    whole, noise = axes.collections
    assert ends(whole) == [(0.4, pytest.approx(1.28))]
    assert ends(noise) == [(0.6, pytest.approx(1.28))]
    (arrow,) = (line for line in axes.lines if line.get_marker() == ">")
    assert list(arrow.get_xdata()) == pytest.approx([1.28])
    unknown = replace(ratio, value=math.nan, interval=(-math.inf, math.inf))
    inferences.differences([unknown])


def test_examples_are_drawn():
    for figure in (inferences.example_intervals(), inferences.example_differences()):
        assert len(figure.axes) == 1


def test_nothing_cannot_be_drawn():
    with pytest.raises(InvalidParameter, match="nothing to draw"):
        infer.plot([])
