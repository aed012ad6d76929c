"""Variances are told from other formulas, and their sets cover the truth, at the ends too."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.mechanisms import Gaussian, Laplace
from deniable.query.language.syntax_tree import Aggregate, ColumnRef
from deniable.query.margins.linear_forms import form
from deniable.query.margins.margins import margins, noise_of_features, shown_values
from deniable.query.margins.variances import interval, variance_form
from deniable.query.plan.plan import (
    Block,
    Feature,
    Number,
    Operation,
)
from deniable.query.planner.aggregate_nodes import MeasuredStatistic
from deniable.query.statements.statistics import Statistic

DRAWS = 30_000
WIDTH = 1000
X = ColumnRef("x")
NAMES = ("f0", "f1", "f2")
STATISTIC = Statistic("moments", X, 0, WIDTH, Fraction(1, 2))


def node_of(name):
    return MeasuredStatistic(STATISTIC, tuple(Feature(key, 0) for key in NAMES)).node(
        Aggregate(name, X)
    )


def features(values):
    """The Bernstein features of values from 0 to WIDTH."""
    squares = [(WIDTH - t) ** 2 for t in values], [2 * t * (WIDTH - t) for t in values]
    return dict(zip(NAMES, map(sum, (*squares, [t * t for t in values])), strict=True))


@pytest.mark.parametrize("name", ["var_pop", "var_samp"])
def test_a_variance_is_told_and_read_as_one(name):
    variance = variance_form(node_of(name))
    assert variance.scale == Fraction(1, 4)
    assert (variance.below == variance.count) is (name == "var_pop")
    values = [0, 10, 500, 700, 1000]
    true = {key: np.array([float(number)]) for key, number in features(values).items()}
    squares, mean = (
        variance.squares.at(true),
        variance.values.at(true) / variance.count.at(true),
    )
    read = (
        variance.scale * (squares - variance.count.at(true) * mean**2) / variance.below.at(true)
    )
    assert read == pytest.approx(np.var(values, ddof=name == "var_samp") / 4)


def test_other_formulas_are_none():
    a, b, n = (Feature(name, 0) for name in "abn")
    ratio, other = Operation("/", (a, n)), Operation("/", (b, n))
    zero, two = Number(Fraction(0)), Number(Fraction(2))
    square = Operation("*", (ratio, ratio))
    inner = Operation("-", (other, square))
    assert variance_form(inner) is not None
    assert variance_form(Operation("*", (inner, two))) is not None
    assert variance_form(Operation("greatest", (zero, inner))) is not None
    for formula in (
        a,
        ratio,
        square,
        Operation("-", (square, other)),
        Operation("-", (other, Operation("*", (ratio, other)))),
        Operation("-", (Operation("/", (b, a)), square)),
        Operation("-", (inner,)),
        Operation("*", (inner, Number(Fraction(-1)))),
        Operation("*", (inner, ratio)),
        Operation("greatest", (inner, two)),
        Operation("+", (inner, two)),
    ):
        assert variance_form(formula) is None, formula
    assert form(inner) is None


SHAPES = {
    "all at the end": lambda n: [0] * n,
    "all in the middle": lambda n: [WIDTH // 2] * n,
    "half at each end": lambda n: [0] * (n // 2) + [WIDTH] * (n - n // 2),
    "one apart": lambda n: [0] * (n - 1) + [WIDTH],
}


@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "n"), [("var_pop", 20), ("stddev_pop", 15), ("var_samp", 300)]
)
def test_margins_cover_wherever_the_mean_and_the_variance_lie(name, n, shape, noise):
    most = Fraction(WIDTH, 4)  # of the deviation, where one step is a half
    high = most if name == "stddev_pop" else most**2 * (2 if name == "var_samp" else 1)
    mechanism = (
        Laplace(epsilon=0.5, sensitivity=STATISTIC.total)
        if noise == "Laplace"
        else Gaussian(mu=0.5, sensitivity=STATISTIC.total)
    )
    laws = noise_of_features([Block(NAMES, "test", mechanism)], None)
    true = features(SHAPES[shape](n))
    noisy = {
        key: np.asarray(mechanism.release([number] * DRAWS), dtype=np.float64)
        for key, number in true.items()
    }
    node, limits = node_of(name), {"low": Fraction(0), "high": high}
    exact = {key: np.array([float(number)]) for key, number in true.items()}
    error = np.abs(shown_values(node, noisy, **limits) - shown_values(node, exact, **limits))
    half = margins(node, laws, noisy, confidence=Fraction(19, 20), **limits)
    assert np.mean(error <= half) >= 0.942
    assert half.max() <= float(high)


def test_far_from_zero_both_tails_are_alike():
    laws = noise_of_features(
        [Block(NAMES, "test", Laplace(epsilon=1, sensitivity=WIDTH**2))], None
    )
    true = features([100, 900] * 10_000)
    at = {key: np.array([float(number)]) for key, number in true.items()}
    variance = variance_form(node_of("var_pop"))
    truth = shown_values(node_of("var_pop"), at)[0]
    for rooted in (False, True):
        (lower,), (upper,) = interval(variance, laws, at, Fraction(19, 20), rooted=rooted)
        assert upper - truth == pytest.approx(truth - lower, rel=0.02)


def test_a_count_that_may_be_zero_leaves_everything():
    laws = noise_of_features(
        [Block(NAMES, "test", Laplace(epsilon=1, sensitivity=WIDTH**2))], None
    )
    at = {key: np.array([float(number)]) for key, number in features([400]).items()}
    (lower,), (upper,) = interval(variance_form(node_of("var_pop")), laws, at, Fraction(19, 20))
    assert lower == -np.inf
    assert upper == np.inf
