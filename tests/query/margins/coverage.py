"""How often margins cover the truth: many draws of the real noise around fixed integers.

No engine and no plan is needed. A configuration is a formula of features, their true values for
made-up rows, and the mechanism that adds the noise. All draws are evaluated at once, as if they
were groups of one answer.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb

import numpy as np

from deniable.mechanisms import Gaussian, Laplace
from deniable.query.language.syntax_tree import Aggregate, ColumnRef
from deniable.query.margins.linear_forms import features_of
from deniable.query.margins.margins import (
    half_widths,
    noise_of_features,
    shown_values,
)
from deniable.query.margins.margins import (
    limits as interval_limits,
)
from deniable.query.plan.plan import Block, Feature, Node, Number, Operation
from deniable.query.planner.aggregate_nodes import MeasuredPair, MeasuredStatistic
from deniable.query.statements.statistics import Statistic, root_up

LEVEL = Fraction(19, 20)
EPSILONS = tuple(
    map(Fraction, ("0.05", "0.1", "0.3", "0.7", "1", "1.6", "2.8", "4", "6", "10"))
)
SIZES = (2, 10, 40, 200, 1500, 20_000)
X, Y = ColumnRef("x"), ColumnRef("y")


@dataclass(frozen=True)
class Configuration:
    """A formula, the true integers, the noise, and the public range of the true value."""

    name: str
    node: Node = field(repr=False)
    blocks: tuple[Block, ...] = field(repr=False)
    true: dict[str, int] = field(repr=False)
    low: Fraction | None = None
    high: Fraction | None = None


@dataclass(frozen=True)
class Measured:
    """The share of draws within their margins, the standard error that 95 % would have, and
    the median margin over the 95 % quantile of the errors."""

    covered: float
    error: float
    padding: float
    unknown: float  # the share of margins that are infinite

    @property
    def falls_short(self) -> bool:
        """Whether it is below 95 % by more than four standard errors."""
        return self.covered < float(LEVEL) - 4 * self.error


def measure(configuration: Configuration, draws: int) -> Measured:
    """Draws the noise again and again: how often both ends of the interval are on their side of
    the truth, and how the margin, which reaches to the farther end, compares with errors."""
    noises = noise_of_features(configuration.blocks, None)
    noisy = {
        name: np.asarray(block.mechanism.release(np.full(draws, configuration.true[name])))
        for block in configuration.blocks
        for name in block.features
    }
    limits = {"low": configuration.low, "high": configuration.high}
    exact = {name: np.array([float(value)]) for name, value in configuration.true.items()}
    truth = shown_values(configuration.node, exact, **limits)
    floats = {name: values.astype(np.float64) for name, values in noisy.items()}
    shown = shown_values(configuration.node, floats, **limits)
    ends = interval_limits(configuration.node, noises, floats, confidence=LEVEL, **limits)
    half = half_widths(shown, *ends)
    error = np.abs(shown - truth)
    if np.isnan(truth).all():
        return Measured(1.0, 0.0, 1.0, 1.0)
    known = ~np.isnan(error)
    tolerance = 1e-9 * np.maximum(np.abs(truth), 1.0)
    # As they are released: an end that is not known is infinitely far away.
    low = np.where(np.isnan(ends[0]), -np.inf, np.minimum(ends[0], shown))
    high = np.where(np.isnan(ends[1]), np.inf, np.maximum(ends[1], shown))
    covered = np.mean(((low - tolerance <= truth) & (truth <= high + tolerance)) | ~known)
    finite = known & np.isfinite(half)
    usual = np.quantile(error[finite], 0.95) if finite.any() else 0.0
    padding = float(np.median(half[finite])) / usual if usual > 0 else 1.0
    spread = float(LEVEL * (1 - LEVEL) / draws) ** 0.5
    return Measured(float(covered), spread, float(padding), float(np.mean(~finite & known)))


@cache
def values(n, width, seed):
    """n whole numbers from 0 to `width`: three in ten are 1 if there are only 0 and 1."""
    source = np.random.default_rng([seed, n])
    if width == 1:
        return (np.arange(n) % 10 < 3 + seed).astype(np.int64)
    return np.round(source.beta(2, 5 - seed, n) * width).astype(np.int64)


@cache
def features(statistic, n, seed=0):
    """The true integers of a statistic for n made-up rows."""
    t, width = values(n, statistic.width, seed), statistic.width
    known = t if not statistic.unknown else t[: -(-2 * n // 3)]
    if statistic.kind in ("count", "units"):
        own = [n]
    elif statistic.kind == "present":
        own = [known.size]
    elif statistic.kind == "sum":
        own = [(known + statistic.low).sum()]
    elif statistic.kind == "mean":
        own = [(width - known).sum(), known.sum()]
    elif statistic.kind == "moments":
        own = [
            ((width - known) ** 2).sum(),
            (2 * known * (width - known)).sum(),
            (known**2).sum(),
        ]
    else:
        return pair_features(statistic, n)
    return [int(x) for x in [*own, *[(n - known.size) * statistic.total] * statistic.unknown]]


def pair_features(statistic, n):
    a, b = statistic.degrees
    w, v = statistic.width, statistic.second.width
    t = values(n, w, 0)
    s = np.clip(np.round(0.6 * t * v / w + 0.4 * values(n, v, 1)), 0, v).astype(np.int64)
    return [
        int(
            (
                (comb(a, i) * t**i * (w - t) ** (a - i))
                * (comb(b, j) * s**j * (v - s) ** (b - j))
            ).sum()
        )
        for i in range(a + 1)
        for j in range(b + 1)
    ]


@cache
def mechanism_for(statistic, epsilon, neighbors, gaussian):
    l1, l2 = statistic.sensitivities(groups=1, rows=1, neighbors=neighbors, keyed=False)
    if gaussian:
        return Gaussian(mu=epsilon, sensitivity=root_up(l2))
    return Laplace(epsilon=epsilon, sensitivity=l1)


def number(value):
    return Number(Fraction(value))


def call(name, *arguments):
    return Operation(name, arguments)


def one_column(kind, low, high, **more):
    return Statistic(kind, X, low, high, Fraction(1), **more)


def two_columns(degrees, widths):
    second = Statistic("mean", Y, 0, widths[1])
    return Statistic("pair", X, 0, widths[0], second=second, degrees=degrees)


@cache
def _aggregate(name, statistic, place=0):
    features = tuple(Feature(f, place) for f in statistic.feature_names(place))
    if statistic.second is not None:
        return MeasuredPair(statistic, features).node(Aggregate(name, X, second=Y))
    argument = None if name == "rows" else X
    return MeasuredStatistic(statistic, features).node(
        Aggregate("count" if name == "rows" else name, argument)
    )


def _formulas(a, b, mean, other):
    """Formulas of two counts or sums, and of two averages."""
    least = call("least", mean, other)
    return {
        "1 / a": call("/", number(1), a),
        "a ** 2": call("power", a, number(2)),
        "a ** -1": call("power", a, number(-1)),
        "a * b": call("*", a, b),
        "a / b": call("/", a, b),
        "a / b + b / a": call("+", call("/", a, b), call("/", b, a)),
        "sqrt(a * b)": call("sqrt", call("*", a, b)),
        "abs(a - b)": call("abs", call("-", a, b)),
        "100 a / (a + b)": call("*", number(100), call("/", a, call("+", a, b))),
        "mean - mean": call("-", mean, other),
        "mean / mean": call("/", mean, other),
        "mean * a": call("*", mean, b),
        "least(mean, mean)": least,
        "round(mean)": call("round", mean),
    }


SINGLE = {
    "count": ("count", one_column("count", 0, 1), None),
    "sum 0 to 1": ("sum", one_column("sum", 0, 1), None),
    "sum -5 to 90": ("sum", one_column("sum", -5, 90), None),
    "sum beside rows": ("sum", one_column("mean", 18, 90, unknown=True), None),
    "share": ("avg", one_column("mean", 0, 1), (0, 1)),
    "mean 0 to 3": ("avg", one_column("mean", 0, 3), (0, 3)),
    "mean 18 to 90": ("avg", one_column("mean", 18, 90), (18, 90)),
    "variance 0 to 1": ("var_pop", one_column("moments", 0, 1), (0, Fraction(1, 4))),
    "sample variance": ("var_samp", one_column("moments", 0, 100), (0, 5000)),
    "deviation 0 to 3": ("stddev_pop", one_column("moments", 0, 3), (0, Fraction(3, 2))),
    "deviation": ("stddev_samp", one_column("moments", 0, 100), (0, Fraction(1415, 20))),
    "correlation": ("corr", two_columns((2, 2), (100, 50)), (-1, 1)),
    "correlation 0 to 1": ("corr", two_columns((2, 2), (1, 1)), (-1, 1)),
    "covariance": ("covar_pop", two_columns((1, 1), (100, 50)), (-1250, 1250)),
    "slope": ("regr_slope", two_columns((1, 2), (100, 50)), None),
    "intercept": ("regr_intercept", two_columns((1, 2), (100, 50)), None),
}


def configurations():
    """All of them: formulas, sizes, losses, relations and kinds of noise."""
    kinds = product(EPSILONS, SIZES, ("add-remove", "replace"), (False, True))
    for epsilon, n, neighbors, gaussian in kinds:
        about = f"n={n} epsilon={epsilon} {neighbors} {'Gaussian' if gaussian else 'Laplace'}"
        noise = epsilon, neighbors, gaussian
        for name, (aggregate, statistic, limits) in SINGLE.items():
            yield _single(f"{name}, {about}", aggregate, statistic, limits, n, noise)
        present = one_column("present", 0, 1, unknown=True)
        share = call("/", _aggregate("count", present), _aggregate("rows", present))
        yield _configured(f"share of rows, {about}", share, [present], (None, None), n, noise)
        yield from _compound(about, n, noise)


def _single(name, aggregate, statistic, limits, n, noise):
    low, high = limits or (None, None)
    node = _aggregate(aggregate, statistic)
    return _configured(name, node, [statistic], (low, high), n, noise)


@cache
def _parts_and_formulas():
    parts = [
        one_column("count", 0, 1),
        one_column("sum", 0, 20),
        one_column("mean", 0, 1),
        one_column("mean", 0, 10),
    ]
    nodes = [
        _aggregate(name, statistic, place)
        for place, (name, statistic) in enumerate(
            zip(("rows", "sum", "avg", "avg"), parts, strict=True)
        )
    ]
    return parts, _formulas(*nodes)


def _compound(about, n, noise):
    parts, formulas = _parts_and_formulas()
    for name, node in formulas.items():
        limits = (Fraction(-10), Fraction(1)) if name == "mean - mean" else (None, None)
        yield _configured(f"{name}, {about}", node, parts, limits, n, noise)


@cache
def _used(node):
    return set(features_of(node))


def _configured(name, node, statistics, limits, n, noise):
    used = _used(node)
    blocks, true = [], {}
    for place, statistic in enumerate(statistics):
        names = statistic.feature_names(place)
        if used & set(names):
            blocks.append(Block(names, "", mechanism_for(statistic, *noise)))
            true |= dict(zip(names, features(statistic, n, place % 2), strict=True))
    return Configuration(name, node, tuple(blocks), true, *limits)
