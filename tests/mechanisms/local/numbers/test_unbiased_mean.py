import numpy as np
import pytest

from deniable.mechanisms import Hybrid, Piecewise

DESIGNS = {"Hybrid": Hybrid, "Piecewise": Piecewise}


def coverage(design, people, surveys):
    """The share of surveys whose interval contains the mean, if all have the lowest answer."""
    held = 0
    for _ in range(surveys):
        low, high = design.estimate(design.randomize([0] * people)).interval
        held += low <= 0 <= high
    return held / surveys


@pytest.mark.parametrize("name", DESIGNS)
def test_ten_people_at_the_low_end_are_covered(name, size):
    """Normal intervals covered 63 to 69 % of these."""
    surveys = size(small=150, full=3000, what="surveys of ten people's numbers")
    for epsilon in (1, 6):
        design = DESIGNS[name](epsilon=epsilon, low=0, high=100)
        assert coverage(design, 10, surveys) >= 0.95 - 4 * (0.0475 / surveys) ** 0.5


@pytest.mark.parametrize("name", DESIGNS)
def test_more_people_are_covered(name, size):
    surveys = size(small=200, full=4000, what="surveys of 120 people's numbers")
    design = DESIGNS[name](epsilon=6, low=0, high=100)
    assert coverage(design, 120, surveys) >= 0.95 - 4 * (0.0475 / surveys) ** 0.5


def test_reports_that_fit_no_answer_say_so():
    design = Piecewise(epsilon=6, low=0, high=100)
    estimate = design.estimate(np.zeros(4000, dtype=np.int64))
    assert not estimate.consistent
