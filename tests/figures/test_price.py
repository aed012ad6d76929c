"""The curves on the pictures are the prices' own numbers."""

import math

import pytest

from deniable import price as prices
from deniable.figures import price
from deniable.mechanisms import RandomizedResponse


def lines(figure):
    (axes,) = figure.axes
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def test_count_shows_noise_above_the_bound():
    curves = lines(price.count(epsilon=0.5))
    for (epsilon, noise), (_, bound) in zip(
        curves["Laplace noise"], curves["limit of unbiased methods"], strict=True
    ):
        assert noise == pytest.approx(prices.count(epsilon=float(epsilon)).standard_error)
        assert noise == pytest.approx(math.sqrt(2) * bound)


def test_proportion_shows_the_verdict():
    curves = lines(price.proportion(margin=0.01, n=400, epsilon=0.1))
    assert curves["impossible"].tolist() == [[400, 0.95]]
    limits, reached = curves["limit of all methods"], curves["Laplace noise"]
    assert (limits[:, 1] >= reached[:, 1]).all()


def test_survey_marks_the_plan():
    curves = lines(price.survey(RandomizedResponse(odds=3), margin=0.03))
    assert curves["4,269 at epsilon 1.099"][0, 1] == 4269
    people = curves["randomized response"][:, 1]
    assert (people[1:] <= people[:-1]).all()
    assert people[-1] > 1068
