"""Margins are honest and not padded: many draws of the real noise for every aggregate."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.mechanisms import Gaussian, Laplace, Thresholding
from deniable.query.language.syntax_tree import Aggregate, ColumnRef
from deniable.query.margins.margins import margins, noise_of_features, shown_values
from deniable.query.plan.plan import (
    Block,
    Feature,
    KeyColumn,
    Number,
    Operation,
)
from deniable.query.planner.aggregate_nodes import MeasuredStatistic
from deniable.query.statements.statistics import Statistic

DRAWS = 60_000  # 20,000 are asked for; more make a chance failure impossible
LEVEL = Fraction(19, 20)
X = ColumnRef("x")


def rows(kind, n, low, high):
    """The features of n made-up rows: a fixed, lopsided sample within the limits."""
    t = np.random.default_rng(n).beta(2, 5, n) * (high - low)
    t = [round(number) for number in t]
    width = high - low
    if kind == "mean":
        return [sum(width - number for number in t), sum(t)]
    if kind == "moments":
        return [
            sum((width - number) ** 2 for number in t),
            sum(2 * number * (width - number) for number in t),
            sum(number * number for number in t),
        ]
    return [sum(number + low for number in t) if kind == "sum" else n]


CASES = {
    "count of rows": ("count", "count", 1000, 0, 1, None, None),
    "count and sum of a mean": ("mean", "count", 1000, 0, 1000, None, None),
    "sum alone": ("sum", "sum", 1000, -50, 1000, None, None),
    "sum beside a mean": ("mean", "sum", 1000, 18, 90, None, None),
    "mean": ("mean", "avg", 1000, 18, 90, 18, 90),
    "mean of few": ("mean", "avg", 60, 18, 90, 18, 90),
    "population variance": ("moments", "var_pop", 1000, 0, 1000, 0, 250_000),
    "sample variance": ("moments", "var_samp", 1000, 0, 1000, 0, 500_000),
    "population deviation": ("moments", "stddev_pop", 2000, 0, 1000, 0, 500),
    "sample deviation": ("moments", "stddev_samp", 2000, 0, 1000, 0, 708),
}


def build(kind, name, n, low, high):
    statistic = Statistic(kind, X, low, high, Fraction(1))
    features = tuple(Feature(f"f{i}", 0) for i in range(statistic.size))
    node = MeasuredStatistic(statistic, features).node(Aggregate(name, X))
    return (
        statistic,
        node,
        dict(
            zip([feature.name for feature in features], rows(kind, n, low, high), strict=True)
        ),
    )


def outcome(node, mechanism, true, low, high, draws=DRAWS):
    laws = noise_of_features([Block(tuple(true), "test", mechanism)], None)
    noisy = {
        name: np.asarray(mechanism.release([value] * draws), dtype=np.float64)
        for name, value in true.items()
    }
    limits = {"low": low, "high": high}
    exact = {name: np.array([float(value)]) for name, value in true.items()}
    error = np.abs(shown_values(node, noisy, **limits) - shown_values(node, exact, **limits))
    return error, margins(node, laws, noisy, confidence=LEVEL, **limits)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_margins_are_honest_and_not_padded(case, noise):
    kind, name, n, low, high, least, most = CASES[case]
    statistic, node, true = build(kind, name, n, low, high)
    if noise == "Laplace":
        mechanism = Laplace(epsilon=0.5, sensitivity=statistic.total)
    else:
        mechanism = Gaussian(mu=0.5, sensitivity=statistic.total)
    error, half = outcome(node, mechanism, true, least, most)
    step = 1 if kind == "count" else 0
    assert np.mean(error <= half) >= 0.942
    assert np.mean(half) <= 1.25 * np.quantile(error, 0.95) + step
    # Power: a margin a fifth too short would be caught.
    assert np.mean(error <= 0.8 * half) < 0.942 or kind == "count"


def spread_outcome(name, n):
    width = 1000
    most = width**2 // (2 if name.endswith("samp") else 4)
    statistic, node, true = build("moments", name, n, 0, width)
    high = Fraction(math.isqrt(most) + 1) if name.startswith("stddev") else most
    mechanism = Laplace(epsilon=0.5, sensitivity=statistic.total)
    error, half = outcome(node, mechanism, true, 0, high)
    known = ~np.isnan(error)
    return error[known], half[known]


@pytest.mark.parametrize(
    ("name", "n"),
    [("var_pop", 70), ("var_samp", 100), ("stddev_pop", 50), ("stddev_samp", 100)],
)
def test_spreads_within_their_margin_of_zero_are_not_padded(name, n):
    """Answers below 0 are cut, so errors downwards are at most the truth, and the 95 % quantile
    of errors is that of one side alone: with equal tails margins would be 1.35 times that."""
    error, half = spread_outcome(name, n)
    assert np.mean(error <= half) >= 0.942
    assert np.mean(half) <= 1.25 * np.quantile(error, 0.95)


@pytest.mark.parametrize("name", ["var_pop", "var_samp", "stddev_pop", "stddev_samp"])
def test_spreads_of_few_are_covered_though_noise_drowns_them(name):
    """Of twenty rows the noisy count is off by a quarter, which no cut at 0 makes up for."""
    error, half = spread_outcome(name, 20)
    assert np.mean(error <= half) >= 0.942
    assert np.mean(half) <= 2 * np.quantile(error, 0.95)


def test_an_average_of_almost_nobody_says_so():
    _, node, true = build("mean", "avg", 3, 18, 90)
    error, half = outcome(node, Laplace(epsilon=0.1, sensitivity=72), true, 18, 90)
    assert np.mean(error <= half) >= 0.942
    assert half[~np.isnan(error)].max() <= 72  # a count of exactly 0 leaves NULL
    _, node, true = build("mean", "avg", 3, 18, 90)
    _, unlimited = outcome(node, Laplace(epsilon=0.1, sensitivity=72), true, None, None)
    assert np.isinf(unlimited).mean() > 0.5


def test_a_ratio_of_two_sums_below_zero():
    above, below = Feature("a", 0), Feature("b", 0)
    node = Operation("/", (above, below))
    true = {"a": 30_000, "b": -20_000}
    error, half = outcome(node, Laplace(epsilon=0.01), true, None, None)
    assert 0.942 <= np.mean(error <= half) <= 0.97
    assert np.isfinite(half).all()


A, B = Feature("a", 0), Feature("b", 0)
OTHER_FORMULAS = {
    "power": Operation("power", (Operation("/", (A, B)), Number(Fraction(2)))),
    "product": Operation("*", (A, B)),
    "root": Operation("sqrt", (Operation("+", (A, B)),)),
    "absolute difference": Operation("abs", (Operation("-", (A, B)),)),
    "percentage": Operation(
        "*", (Number(Fraction(100)), Operation("/", (A, Operation("+", (A, B)))))
    ),
    "shifted": Operation("+", (Number(Fraction(1)), A)),
    "sum of averages": Operation("+", (Operation("/", (A, B)), Operation("/", (B, A)))),
    "cut": Operation("greatest", (Operation("-", (A, B)), Number(Fraction(0)))),
}


@pytest.mark.parametrize("name", OTHER_FORMULAS)
def test_arithmetic_on_aggregates(name):
    error, half = outcome(
        OTHER_FORMULAS[name], Laplace(epsilon=0.2), {"a": 500, "b": 800}, None, None
    )
    assert np.mean(error <= half) >= 0.942
    assert np.median(half) <= 1.25 * np.quantile(error, 0.95) + 1


def test_the_thresholded_number_of_units():
    thresholding = Thresholding(epsilon=0.5, delta=1e-6)
    laws = noise_of_features([], thresholding)
    half = margins(Feature("units", 0), laws, {"units": np.array([90.0])}, confidence=LEVEL)
    assert half.tolist() == [thresholding.margin(0.95)]


def test_keys_carry_no_noise():
    laws = noise_of_features([Block(("a",), "count", Laplace(epsilon=1))], None)
    node = Operation("*", (Feature("a", 0), KeyColumn(0)))
    got = {"a": np.array([10.0, 10.0])}
    half = margins(node, laws, got, confidence=LEVEL, keys=(np.array([1.0, 5.0]),))
    assert half.tolist() == [3, 15]


def test_a_constant_is_certain():
    half = margins(Number(Fraction(7)), {}, {}, confidence=LEVEL)
    assert half.tolist() == 0


def test_a_prediction_is_the_margin_at_what_is_expected():
    statistic, node, true = build("mean", "avg", 1000, 18, 90)
    mechanism = Laplace(epsilon=0.5, sensitivity=statistic.total)
    _, half = outcome(node, mechanism, true, 18, 90, draws=500)
    expected = {name: np.array([float(value)]) for name, value in true.items()}
    laws = noise_of_features([Block(tuple(true), "test", mechanism)], None)
    predicted = margins(node, laws, expected, confidence=LEVEL, low=18, high=90)
    assert predicted[0] == pytest.approx(np.median(half), rel=0.05)


def test_an_average_is_twice_as_good_as_two_half_budgets():
    """Against half of epsilon for the count and half for the sum, centred in its range."""
    low, high, n, epsilon, draws = 0, 1000, 1000, Fraction(1, 5), DRAWS
    statistic, node, true = build("mean", "avg", n, low, high)
    error, _ = outcome(
        node, Laplace(epsilon=epsilon, sensitivity=statistic.total), true, low, high, draws
    )
    count = Laplace(epsilon=epsilon / 2)
    centred = Laplace(epsilon=epsilon / 2, sensitivity=(high - low) // 2)
    total = true["f1"] - n * (high - low) // 2
    noisy_count = np.asarray(count.release([n] * draws), dtype=np.float64)
    noisy_total = np.asarray(centred.release([total] * draws), dtype=np.float64)
    rival = np.clip(noisy_total / noisy_count + (low + high) / 2, low, high)
    rival_error = rival - true["f1"] / n
    assert np.mean(error**2) <= 0.55 * np.mean(rival_error**2)


def test_without_noise_a_ratio_has_no_margin():
    """At this epsilon both counts are exact in 97 of 100 releases."""
    noises = noise_of_features([Block(("s", "n"), "mean", Laplace(epsilon=5))], None)
    got = {"s": np.array([500.0]), "n": np.array([1000.0])}
    mean = Operation("/", (Feature("s", 0), Feature("n", 0)))
    assert margins(mean, noises, got, confidence=Fraction(19, 20)).tolist() == [0.0]


WRAPPED = {
    "ROUND(AVG(x), 2)": "rounded",
    "SUM(x) / NULLIF(COUNT(*), 0)": "avg",
    "CAST(SUM(x) AS FLOAT)": "sum",
    "LN(COUNT(*))": "ln",
    "ROUND(SUM(x), -1)": "tens",
}


@pytest.mark.parametrize("output", WRAPPED)
@pytest.mark.parametrize("rows", [6, 300])
def test_margins_of_wrapped_aggregates_cover(output, rows, size):
    """Small counts lie within three margins of zero."""
    count = size(small=40, full=4000, what="answers per expression")
    values = np.arange(rows) % 10
    truths = {
        "avg": values.mean(),
        "rounded": np.floor(values.mean() * 100 + 0.5) / 100,
        "sum": values.sum(),
        "ln": np.log(rows),
        "tens": np.floor(values.sum() / 10 + 0.5) * 10,
    }
    truth, covered = truths[WRAPPED[output]], 0
    session = dp.protect(
        pa.table({"x": values}), bounds={"x": (0, 9)}, epsilon=10**6, expected_rows=rows
    )
    plan = session.plan(f"SELECT {output} AS y FROM data", epsilon=1)
    for _ in range(count):
        answer = session.release(plan, fresh=True).to_arrow()
        shown, margin = answer["y"][0].as_py(), answer["y_margin"][0].as_py()
        covered += margin is None or abs(shown - truth) <= margin + 1e-9
    assert covered / count >= 0.95 - 4 * (0.95 * 0.05 / count) ** 0.5


def test_the_logarithm_of_a_count_near_zero_has_no_margin():
    noises = noise_of_features([Block(("n",), "rows", Laplace(epsilon=1))], None)
    actual = margins(
        Operation("ln", (Feature("n", 0),)),
        noises,
        {"n": np.array([2.0, 1000.0])},
        confidence=Fraction(19, 20),
    )
    assert actual[0] == np.inf
    assert actual[1] == pytest.approx(np.log(1000 / 997), rel=1e-3)
