"""The power of our tests at 5 %, beside the best published private ones and without noise.

Each line is a share of simulated releases in which a true difference is found. "Theirs" is the
published test at the same privacy, simulated here as its paper describes it, with what it takes
as known in its favour; the note has the power without noise. Awan and Slavkovic (2018) is the
optimum for one share. Rogers and Kifer (2017) test a table's fit and independence with a
projected statistic and Gaussian noise; their number of rows is public. Swanberg et al. (2019)
release the absolute deviations between groups and within, with Laplace noise of 4 / (0.7
epsilon) and 3 / (0.3 epsilon); of two groups that is a t test. Couch et al. (2019) release Mann
and Whitney's U. The sizes of the groups are public there, and here they are not.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.stats import binom, chi2, chi2_contingency, f_oneway, mannwhitneyu

import deniable as dp
from benchmarks.stopwatch import Row
from deniable.infer.anova import anova_p
from deniable.infer.groups.group_means import GroupMeans
from deniable.infer.groups.mean_intervals import contrast_ends, population_ends
from deniable.infer.groups.readings import GroupAmounts, read
from deniable.infer.proportion_tests import binomial_p
from deniable.infer.rank_tests import ranks_p
from deniable.infer.table_tests import fit_p, independence_p
from deniable.mechanisms import Gaussian, Laplace
from deniable.mechanisms.noise.additive import Noise
from deniable.release.session.release import Release

Floats = NDArray[np.float64]
RELEASES = 1_000
NULLS = 4_000  # simulations of a peer's critical value
LEVEL = 0.05


def rows() -> Iterator[Row]:
    yield from proportions()
    yield from fits()
    yield from tables()
    yield from means()
    yield from ranks()


def verdict(
    what: str, ours: float, theirs: float, peer: str, plain: float, least: float
) -> Row:
    ratio = ours / theirs if theirs else None
    reached = ratio is None or ratio >= least
    note = f"without noise {plain:.2f}"
    return Row(what, "power", ours, theirs, peer, ratio, f"≥ {least:g}", reached, note)


def proportions() -> Iterator[Row]:
    """One share, one-sided, 30 rows: exactly, by enumeration."""
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
        noise = [Laplace(epsilon=epsilon).noise()]
        edge = _edge(lambda at, n=noise: binomial_p(at, 30, 0.5, n, "greater", spread=True))
        ours = binomial_p(edge, 30, 0.75, noise, "greater", spread=True)
        plain = binom.sf(binom.isf(LEVEL, 30, 0.5), 30, 0.75)
        name = f"one share, 30 rows, 0.75 for 0.5, epsilon {float(epsilon):g}"
        theirs = tulap_power(30, 0.5, 0.75, float(epsilon))
        yield verdict(name, ours, theirs, "Awan and Slavkovic 2018", float(plain), 0.999)


def tulap_power(count: int, null: float, other: float, epsilon: float) -> float:
    """The optimal test: P(binomial + Tulap noise is beyond its critical value)."""
    x = np.arange(count + 1)
    b = np.exp(-epsilon)

    def above(at: float, share: float) -> float:
        z = at - x
        whole = np.rint(z)
        tail = b ** np.abs(whole) / (1 + b)
        low = tail * (b + (z - whole + 0.5) * (1 - b))
        high = 1 - tail * (b + (whole - z + 0.5) * (1 - b))
        cdf = np.where(whole <= 0, low, high)
        return float(binom.pmf(x, count, share) @ (1 - cdf))

    edge = _edge(lambda at: above(at, null))
    return above(edge, other)


def _edge(level_at: object) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda at: level_at(at) - LEVEL, -600, 700, xtol=1e-9))  # type: ignore[operator]


def fits() -> Iterator[Row]:
    """Fit of four shares, with Gaussian noise of the same variance for both."""
    null, other = np.full(4, 0.25), np.array([0.26, 0.24, 0.26, 0.24])
    for count, rho in ((10_000, 0.001), (10_000, 0.01), (2_000, 0.01)):
        far = other if count > 5_000 else np.array([0.29, 0.21, 0.29, 0.21])
        variance = 1 / rho  # replacing one row moves two counts by one: 2 / (2 rho)
        noise = Gaussian(sigma=Fraction(str(variance**0.5))).noise()
        rng = np.random.default_rng(count)
        rejections = np.zeros(3)
        for _ in range(RELEASES):
            exact = rng.multinomial(count, far)
            noisy = exact + np.rint(rng.normal(0, variance**0.5, 4))
            counts = _amounts(noisy, noise)
            plain = ((exact - count * null) ** 2 / (count * null)).sum()
            rejections += (
                fit_p(counts, null, level=LEVEL)[1] <= LEVEL,
                projected_p(noisy, null, count, variance) <= LEVEL,
                chi2.sf(plain, 3) <= LEVEL,
            )
        ours, theirs, plain_power = rejections / RELEASES
        name = f"fit of 4 shares, {count:,} rows, rho {rho:g}"
        yield verdict(name, ours, theirs, "Rogers and Kifer 2017", plain_power, 0.9)


def projected_p(noisy: Floats, null: Floats, count: int, variance: float) -> float:
    """Rogers and Kifer's projected statistic of fit, with a known number of rows."""
    cells = null.size
    v = (noisy - count * null) / count**0.5
    spread = np.diag(null) - np.outer(null, null) + variance / count * np.eye(cells)
    across = np.eye(cells) - 1 / cells
    statistic = v @ across @ np.linalg.inv(spread) @ across @ v
    return float(chi2.sf(statistic, cells - 1))


def tables() -> Iterator[Row]:
    """Independence of two keys, with Gaussian noise of the same variance for both."""
    even = np.full((2, 2), 0.25)
    slanted = np.outer([0.6, 0.4], [0.7, 0.3])
    off = 0.01 * np.array([[1, -1], [-1, 1]])
    for cells, times, count, rho in (
        (even, 1, 15_000, 0.001),
        (even, 2, 4_000, 0.01),
        (slanted, 2, 6_000, 0.001),
    ):
        variance = 1 / rho
        noise = Gaussian(sigma=Fraction(str(variance**0.5))).noise()
        rng = np.random.default_rng(count)
        rejections = np.zeros(3)
        for _ in range(RELEASES):
            exact = rng.multinomial(count, (cells + times * off).ravel()).reshape(2, 2)
            noisy = exact + np.rint(rng.normal(0, variance**0.5, (2, 2)))
            counts = _amounts(noisy.ravel(), noise)
            rejections += (
                independence_p(noisy, counts, level=LEVEL)[1] <= LEVEL,
                projected_independence_p(noisy, count, variance) <= LEVEL,
                chi2_contingency(exact, correction=False)[1] <= LEVEL,
            )
        ours, theirs, plain_power = rejections / RELEASES
        kind = "even" if cells is even else "uneven"
        name = f"independence, {kind}, {count:,} rows, rho {rho:g}"
        yield verdict(name, ours, theirs, "Rogers and Kifer 2017", plain_power, 0.9)


def projected_independence_p(noisy: Floats, count: int, variance: float) -> float:
    """Rogers and Kifer's projected statistic: its least value over the margins, where the
    covariance is that of margins estimated first."""
    from scipy.optimize import minimize

    rows, columns = (np.clip(noisy.sum(i) / noisy.sum(), 0.01, 0.99) for i in (1, 0))
    rough = np.outer(rows, columns).ravel()
    cells = noisy.size
    spread = np.diag(rough) - np.outer(rough, rough) + variance / count * np.eye(cells)
    across = np.eye(cells) - 1 / cells
    middle = across @ np.linalg.inv(spread) @ across

    def statistic(margins: Floats) -> float:
        p = np.outer([margins[0], 1 - margins[0]], [margins[1], 1 - margins[1]]).ravel()
        v = (noisy.ravel() - count * p) / count**0.5
        return float(v @ middle @ v)

    least = minimize(statistic, [rows[0], columns[0]], method="Nelder-Mead").fun
    return float(chi2.sf(least, 1))


def means() -> Iterator[Row]:
    """Normal values between 0 and 1 with deviation 0.15, as Swanberg et al. take them."""
    far = (0.35, 0.5, 0.65)
    for middles, count, epsilon in (
        (far, 300, 1.0),
        (far, 1500, 0.2),
        ((0.45, 0.55), 600, 1.0),
        ((0.4, 0.6), 1000, 0.2),
    ):
        rng = np.random.default_rng(count)
        null = (float(np.mean(middles)),) * len(middles)
        half = len(middles) == 2
        edge = np.quantile([f1(rng, null, count, epsilon) for _ in range(NULLS)], 1 - LEVEL)
        rejections = np.zeros(3)
        for _ in range(RELEASES):
            x = draw(rng, middles, count)
            read_means = read(ask(x, epsilon), "m", None)
            assert isinstance(read_means, GroupMeans)
            rejections += (
                differs(read_means) if half else anova_p(read_means, level=LEVEL)[1] <= LEVEL,
                f1(rng, middles, count, epsilon) >= edge,
                f_oneway(*x).pvalue <= LEVEL,
            )
        ours, theirs, plain_power = rejections / RELEASES
        test = "t test" if half else "analysis of variance, 3 groups"
        name = f"{test}, {count} rows, epsilon {epsilon:g}"
        yield verdict(name, ours, theirs, "Swanberg et al. 2019", plain_power, 0.9)


def differs(means: GroupMeans) -> bool:
    """Whether the t test rejects at 5 %: it does if this interval excludes 0."""
    pair = [means.at(0), means.at(1)]
    low, high = contrast_ends(pair, [1, -1], population_ends, 1 - Fraction(str(LEVEL)))
    return not low <= 0 <= high


def draw(rng: np.random.Generator, middles: tuple[float, ...], count: int) -> Floats:
    shape = (len(middles), count // len(middles))
    return rng.normal(np.array(middles)[:, None], 0.15, shape).clip(0, 1)


def f1(
    rng: np.random.Generator, middles: tuple[float, ...], count: int, epsilon: float
) -> float:
    """Their statistic; without a positive spread within the groups, they do not reject."""
    x = draw(rng, middles, count)
    own = x.mean(1, keepdims=True)
    between = x.shape[1] * np.abs(own - x.mean()).sum() + rng.laplace(0, 4 / (0.7 * epsilon))
    within = np.abs(x - own).sum() + rng.laplace(0, 3 / (0.3 * epsilon))
    ratio = between / (x.shape[0] - 1) / (within / (x.size - x.shape[0]))
    return float(ratio) if within > 0 else -1.0


def ask(x: Floats, epsilon: float) -> Release:
    """A release of a session, through its own door."""
    groups = np.repeat(np.arange(len(x)), x.shape[1])
    session = dp.protect(
        pa.table({"ward": groups, "x": x.ravel()}),
        bounds={"x": (0, 1)},
        step={"x": 0.001},
        keys={"ward": list(range(len(x)))},
        epsilon=epsilon,
    )
    text = "SELECT ward, COUNT(x) AS n, AVG(x) AS m, STDDEV(x) AS d FROM data GROUP BY ward"
    return session.sql(text, epsilon=epsilon)


def ranks() -> Iterator[Row]:
    """Two groups of normal values, one standard deviation apart, in five bins; ten bins cost
    power where the noise is large."""
    designs = ((100, 1.0, 5), (400, 0.2, 5), (1000, 0.1, 5), (400, 0.2, 10))
    for count, epsilon, bins in designs:
        edges = np.linspace(-2, 3, bins + 1)
        rng = np.random.default_rng(count)
        half = count // 2
        nulls = [abs(noisy_u(rng, 0.0, half, epsilon)[0] - half**2 / 2) for _ in range(NULLS)]
        edge = np.quantile(nulls, 1 - LEVEL)
        noise = Laplace(epsilon=Fraction(str(epsilon))).noise()
        rejections = np.zeros(3)
        for _ in range(RELEASES):
            u, x, y = noisy_u(rng, 1.0, half, epsilon)
            table = np.array([np.histogram(np.clip(v, -2, 3), edges)[0] for v in (x, y)])
            chance = -np.expm1(-epsilon)
            z = rng.geometric(chance, table.shape) - rng.geometric(chance, table.shape)
            counts = _amounts((table + z).ravel().astype(float), noise)
            rejections += (
                ranks_p(counts.values.reshape(2, bins), counts, level=LEVEL)[1] <= LEVEL,
                abs(u - half**2 / 2) >= edge,
                mannwhitneyu(x, y).pvalue <= LEVEL,
            )
        ours, theirs, plain_power = rejections / RELEASES
        name = f"ranks in {bins} bins, {count} rows, epsilon {epsilon:g}"
        yield verdict(name, ours, theirs, "Couch et al. 2019", plain_power, 0.9)


def noisy_u(
    rng: np.random.Generator, shift: float, half: int, epsilon: float
) -> tuple[float, Floats, Floats]:
    """U with Laplace noise; the sizes of both groups are taken as known, in its favour."""
    x, y = rng.normal(shift, 1, half), rng.normal(0, 1, half)
    u = float(np.searchsorted(np.sort(y), x).sum())
    return u + rng.laplace(0, half / epsilon), x, y


def _amounts(values: Floats, noise: Noise) -> GroupAmounts:
    keys = tuple(range(values.size))
    values = np.asarray(values, dtype=np.float64)
    return GroupAmounts(keys, values, {"f": Fraction(1)}, {"f": noise}, "COUNT(*)", count=True)
