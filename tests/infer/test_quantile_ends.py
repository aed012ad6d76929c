import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.quantile_ends import _above, _below, quantile_levels
from tests.infer.simulated import (
    few_errors,
)

TEXT = "SELECT MEDIAN(x) AS m FROM v FOR POPULATION"


def protect(values, **options):
    rows = pa.table({"id": range(len(values)), "x": values})
    return dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"x": (0, 1000)},
        step={"x": 1},
        epsilon=100,
        **options,
    )


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("rows", [40, 977])
def test_order_statistics_cross_a_quantile_as_rarely_as_said(level, rows):
    """Exactly: the k-th of n is above the quantile if fewer than k lie below it."""
    for other in (level - Fraction(1, 20), level + Fraction(1, 20)):
        for rank in (int(rows * other), int(rows * other) + 1):
            crossed_down = binom.cdf(rank - 1, rows, float(level))
            crossed_up = binom.sf(rank - 1, rows, float(level))
            assert _below(rows, level, other) >= crossed_down - 1e-12
            assert _above(rows, level, other) >= crossed_up - 1e-12


@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)])
def test_what_holds_for_the_fewest_rows_holds_for_more(level):
    """How many rows there are is known from below alone. By whole ranks, 57 rows may cross a
    quantile one and a half times as often as 50."""
    for rows, away in itertools.product((20, 50, 400), range(1, 20)):
        more = np.arange(rows, 4 * rows)
        for other in (level - Fraction(away, 80), level + Fraction(away, 80)):
            ranks = np.array([int(n * other) for n in more])
            down = binom.cdf(ranks, more, float(level)).max()
            up = binom.sf(np.ceil(more * float(other) - 1e-9) - 1, more, float(level)).max()
            if 0 < other < level:
                assert _below(rows, level, other) >= down - 1e-12
            if level < other < 1:
                assert _above(rows, level, other) >= up - 1e-12


def test_rows_without_a_value_are_not_counted():
    """COUNT(*) says nothing about how many rows a quantile is over: of 4,000 only 40 here."""
    values = [float(n) if n % 100 == 0 else None for n in range(4000)]
    data = protect(values, expected_rows=40)
    levels = "QUANTILE_CONT(x, 0.45) AS low, QUANTILE_CONT(x, 0.55) AS high"
    text = f"SELECT COUNT(*) AS n, MEDIAN(x) AS m, {levels} FROM v"
    release = data.sql(text, epsilon=20, confidence=0.975)
    with pytest.raises(InvalidParameter, match=r"Ask for COUNT\(x\)"):
        release.population(value="m")


def test_the_median_of_the_population_is_covered(size, figure):
    releases = size(small=25, full=2_000, what="samples of which the median is asked")
    rng = np.random.default_rng(1)
    missed, wide = [], []
    for _ in range(releases):
        sample = np.minimum(rng.exponential(200, 800), 1000)
        data = protect(sample, expected_rows=1000)
        (estimate,) = data.sql(TEXT, epsilon=1).population()
        missed.append(not estimate.low <= 200 * np.log(2) <= estimate.high)
        wide.append(estimate.high >= 400)  # the bound, if the noisy number of rows is too small
    assert few_errors(figure, missed)
    assert np.mean(wide) <= 0.02


def test_both_errors_and_the_levels_around():
    data = protect(np.arange(1000.0), expected_rows=1000)
    release = data.sql(TEXT, epsilon=20)
    (estimate,) = release.population()
    levels = {name: float(level) for name, (level, _) in quantile_levels(release.plan).items()}
    assert sorted(levels.values()) == pytest.approx([0.449, 0.5, 0.551], abs=0.002)
    assert estimate.what == "MEDIAN(x)"
    assert estimate.noise[0] >= estimate.low
    assert (
        440
        < estimate.low
        < estimate.sampling[0] + 8
        < 500
        < estimate.sampling[1]
        < estimate.high + 8
        < 570
    )
    assert release.plan.confidence == Fraction(39, 40)


def test_what_a_quantile_needs_is_said():
    data = protect(np.arange(1000.0))
    with pytest.raises(dp.InvalidQuery, match="Declare expected_rows of v"):
        data.sql(TEXT, epsilon=1)
    release = data.sql("SELECT MEDIAN(x) AS m, COUNT(x) AS n FROM v", epsilon=1)
    with pytest.raises(InvalidParameter, match=r"ask with confidence=0\.975"):
        release.population()
    alone = data.sql("SELECT MEDIAN(x) AS m FROM v", epsilon=1, confidence=0.975)
    with pytest.raises(InvalidParameter, match=r"Ask for COUNT\(x\)"):
        alone.population()
    wide = data.sql("SELECT MEDIAN(x) AS m, COUNT(x) AS n FROM v", epsilon=1, confidence=0.975)
    (estimate,) = wide.population()
    assert estimate.interval == (0.0, 1000.0)  # no level beside it was asked for
    bare = data.sql("SELECT MEDIAN(x) AS m, COUNT(x) AS n FROM v", epsilon=1, brackets=False)
    with pytest.raises(InvalidParameter, match="Ask without brackets=False"):
        bare.population(confidence=0.9)
    assert str(data.remaining).startswith("epsilon 96")


def test_values_may_be_an_expression_of_several_arguments():
    data = protect(np.arange(1000.0), expected_rows=1000)
    text = "SELECT MEDIAN(GREATEST(x, 3)) AS m, QUANTILE_CONT(LEAST(x, 900), 0.9) AS q FROM v"
    middle, upper = data.sql(f"{text} FOR POPULATION", epsilon=50).population()
    assert middle.low < 500 < middle.high < 600
    assert 800 < upper.low < upper.high <= 901


def test_a_list_of_levels_has_an_interval_for_each():
    data = protect(np.arange(1000.0), expected_rows=1000)
    text = "SELECT QUANTILE_CONT(x, [0.25, 0.5]) AS q FROM v FOR POPULATION"
    lower, middle = data.sql(text, epsilon=50).population()
    assert lower.what == "QUANTILE_CONT(x, 0.25)"
    assert 180 < lower.low < 250 < lower.high < 320
    assert 430 < middle.low < 500 < middle.high < 570


def test_how_far_a_population_reaches_is_refused():
    data = protect(np.arange(1000.0), expected_rows=1000)
    with pytest.raises(dp.InvalidQuery, match=r"Instead of MAX\(x\) ask for a quantile"):
        data.sql("SELECT AVG(x) AS a, MAX(x) AS m FROM v FOR POPULATION", epsilon=5)
    assert str(data.remaining).startswith("epsilon 100")
    seen = data.sql("SELECT MAX(x) AS m, COUNT(x) AS n FROM v", epsilon=5, confidence=0.99)
    with pytest.raises(InvalidParameter, match="no sample tells how far"):
        seen.population()


def protect_persons(people, values, most, **options):
    rows = pa.table({"id": people, "x": values})
    return dp.protect(
        rows,
        name="v",
        unit="id",
        bounds={"x": (0, 1000)},
        step={"x": 1},
        epsilon=1000,
        max_rows_per_unit_per_group=most,
        **options,
    )


@pytest.mark.parametrize(
    ("level", "kinds"),
    [
        (Fraction(1, 2), [(0.5, 5, 5), (0.5, 5, 0)]),
        (Fraction(1, 2), [(1 / 6, 5, 5), (5 / 6, 1, 0)]),
        (Fraction(1, 2), [(5 / 6, 1, 1), (1 / 6, 5, 0)]),
        (Fraction(9, 10), [(45 / 46, 1, 1), (1 / 46, 5, 0)]),
        (Fraction(9, 10), [(9 / 14, 5, 5), (5 / 14, 1, 0)]),
        (Fraction(1, 4), [(0.25, 5, 5), (0.75, 5, 0)]),
    ],
)
@pytest.mark.parametrize("units", [100, 1000])
def test_rows_of_persons_cross_a_level_as_rarely_as_said(level, kinds, units, size, figure):
    """Kinds of persons: chance, rows, and rows below the quantile, whatever else they are."""
    releases = size(small=20_000, full=200_000, what="samples of persons with several rows")
    chance, rows, below = (np.array(column, dtype=float) for column in zip(*kinds, strict=True))
    share = chance @ below / (chance @ rows)
    assert share == pytest.approx(float(level), abs=0.02)
    counts = np.random.default_rng(units).multinomial(units, chance, releases)
    all_rows, under = counts @ rows, counts @ below
    draws = all_rows // 5
    level = Fraction(share).limit_denominator(10**6)
    tail = 0.0125
    far = {n: ends_at(int(n), level, tail) for n in np.unique(draws)}
    lows, highs = np.array([far[n] for n in draws]).T
    missed = (under < lows * all_rows) | (under > highs * all_rows)
    independent = 2.24 * np.sqrt(share * (1 - share) / all_rows)
    naive = np.abs(under / all_rows - share) > independent
    assert few_errors(figure, missed, naive, allowed=2 * tail)


@pytest.mark.parametrize("most", [1, 4])
def test_the_median_over_rows_of_persons_is_covered(most, size, figure):
    """All rows of a person are equal, so `most` rows say as little as one."""
    releases = size(small=12, full=2_000, what="samples of persons of which a median is asked")
    rng = np.random.default_rng(most)
    missed = []
    for _ in range(releases):
        values = np.minimum(rng.exponential(200, 800), 1000).repeat(most)
        people = np.arange(800).repeat(most)
        data = protect_persons(people, values, most, expected_rows=800 * most)
        (median,) = data.sql(TEXT, epsilon=2).population()
        missed.append(not median.low <= 200 * np.log(2) <= median.high)
    assert few_errors(figure, missed)


def test_rows_of_a_person_count_as_one_draw():
    """1,000 persons with one row each, or 250 with four equal ones."""
    widths = []
    for most, people in ((1, np.arange(1000)), (4, np.arange(250).repeat(4))):
        values = np.sort(np.arange(1000.0))
        data = protect_persons(people, values, most, expected_rows=1000)
        release = data.sql(TEXT, epsilon=200)
        (median,) = release.population()
        widths.append(median.high - median.low)
        assert median.low < 500 < median.high
        assert len(median.notes) == (most > 1)
        # One person's four rows move the number of rows by four, and the kernel checks it.
        (count,) = [o for o in release.plan.outputs if o.name == "m: rows"]
        assert release.plan.max_rows_per_unit_per_group == most
        assert count.about == "COUNT(x)"
    assert 1.7 < widths[1] / widths[0] < 2.3


@pytest.mark.parametrize(("rows", "known"), [(150, False), (300, True), (0, False)])
def test_fewer_rows_than_one_unit_may_have_are_no_draw(rows, known):
    """One draw is hardly ever above the quantile at 99.5 %, so the lowest hundredth of one may
    be the end of its interval. Of none it may not."""
    data = protect_persons(np.arange(rows) // 200, np.full(rows, 500.0), 200)
    text = (
        "SELECT QUANTILE_CONT(x, 0.995) AS high, QUANTILE_CONT(x, 0.01) AS low, "
        "COUNT(x) AS n FROM v"
    )
    release = data.sql(text, epsilon=900, confidence=0.975)
    (quantile,) = [own for own in release.population() if "0.995" in own.what]
    assert (quantile.sampling[0] > 0) == known
    assert quantile.low == 0 or known
    assert quantile.high == 1000


def test_quantiles_are_not_mixed_with_numbers_over_units():
    data = protect_persons(np.arange(400).repeat(2), np.arange(800.0), 2, expected_rows=800)
    with pytest.raises(dp.InvalidQuery, match="quantiles in a question of their own"):
        data.sql("SELECT MEDIAN(x) AS m, AVG(x) AS a FROM v FOR POPULATION", epsilon=1)
    for text, match in (
        ("MIN(x) AS a", "ask for a quantile, such as"),
        ("STDDEV(x) AS a", "is not one of them"),
        ("AVG(x) + 1 AS a", "is not one of them"),
    ):
        with pytest.raises(dp.InvalidQuery, match=match):
            data.sql(f"SELECT MEDIAN(x) AS m, {text} FROM v FOR POPULATION", epsilon=1)
    assert str(data.remaining) == "epsilon 1000, delta 0"
    release = data.sql("SELECT MEDIAN(x) AS m, COUNT(*) AS n FROM v FOR POPULATION", epsilon=99)
    (median,) = release.population()
    assert median.low < 400 < median.high
    assert release["n"] == pytest.approx([800], abs=5)


def test_counts_beside_quantiles_of_a_clustered_frame_are_asked_for_alone():
    people, sample = np.arange(400).repeat(2), {"frame": 8000, "clustered": True}
    data = protect_persons(people, np.arange(800.0), 2, expected_rows=800, sample=sample)
    with pytest.raises(dp.InvalidQuery, match=r"COUNT\(\*\) is counted over ids.*of its own"):
        data.sql("SELECT MEDIAN(x) AS m, COUNT(*) AS n FROM v FOR POPULATION", epsilon=1)
    assert str(data.remaining) == "epsilon 1000, delta 0"
    for text in ("MEDIAN(x)", "COUNT(*)"):
        (estimate,) = data.sql(
            f"SELECT {text} AS m FROM v FOR POPULATION", epsilon=99
        ).population()
        assert estimate.low < estimate.high


def ends_at(draws, level, tail):
    """The nearest levels, in thousandths, that sampling does not take across."""
    steps = [Fraction(k, 1000) for k in range(1, 1000)]
    low = max((q for q in steps if q < level and _below(draws, level, q) <= tail), default=0)
    high = min((q for q in steps if q > level and _above(draws, level, q) <= tail), default=1)
    return float(low), float(high)
