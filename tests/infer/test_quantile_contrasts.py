from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.groups.mean_intervals import combine_ends
from deniable.infer.quantile_ends import quantile_levels
from tests.infer.simulated import few_errors, laplace

ASK = "SELECT ward, MEDIAN(x) AS m FROM v GROUP BY ward FOR POPULATION"


def protect(values, wards=("A", "B"), **options):
    rows = len(values)
    table = pa.table({"id": range(rows), "ward": [*wards] * (rows // len(wards)), "x": values})
    return dp.protect(
        table,
        name="v",
        unit="id",
        bounds={"x": (0, 1000)},
        step={"x": 1},
        keys={"ward": list(wards)},
        epsilon=100_000,
        **{"expected_rows": rows} | options,
    )


def drawn(release, groups, rng):
    """The release of other rows: of the same plan, drawn by its mechanism."""
    plan, table = release.plan, release.answer.table
    mechanism = plan.choices[0].mechanism
    releases = [mechanism.release(values) for values in groups]
    columns = {"m: rows": [len(v) + int(laplace(rng, _rate(plan), 1)[0]) for v in groups]}
    for name, (level, _) in quantile_levels(plan).items():
        place = mechanism.quantiles.index(level)
        columns[name] = [answer.values[place] for answer in releases]
        for side, end in enumerate(release.answer.ends[name]):
            columns[end] = [answer.ends[place][side] for answer in releases]
    for name, numbers in columns.items():
        table = table.set_column(table.column_names.index(name), name, pa.array(numbers))
    return replace(release, answer=replace(release.answer, table=table))


def _rate(plan):
    return float(plan.blocks[0].mechanism.epsilon)


def smooth(scale):
    """Values of which the median is ln 2 times the scale."""
    return lambda rng, rows: np.minimum(rng.exponential(scale, rows), 1000)


def gap(share):
    """Values 0 and 1000, a share of them 0."""
    return lambda rng, rows: np.where(rng.random(rows) < share, 0, 1000)


LOG2 = np.log(2)
DESIGNS = {
    "equal": ((400, 400), 1, smooth(200), smooth(200), 0),
    "apart": ((400, 400), 5, smooth(300), smooth(200), 100 * LOG2),
    "few of one": ((50, 2000), 5, smooth(200), smooth(200), 0),
    "much noise": ((5000, 5000), 0.1, smooth(200), smooth(200), 0),
    "gap": ((400, 400), 5, gap(0.51), gap(0.49), -1000),
    "ties": ((2000, 2000), 0.5, gap(0.98), gap(0.97), 0),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("design", DESIGNS)
def test_differences_of_medians_are_covered(design, size, figure):
    releases = size(small=60, full=2_000, what="simulated pairs of medians")
    rows, epsilon, first, second, difference = DESIGNS[design]
    rng = np.random.default_rng(rows[0])
    answer = protect(np.ones(2000), expected_rows=min(rows) * 2).sql(ASK, epsilon=epsilon)
    wrong, plain = [], []
    for _ in range(releases):
        groups = [first(rng, rows[0]), second(rng, rows[1])]
        estimate = infer.difference(drawn(answer, groups, rng), "A", "B")
        wrong.append(
            not estimate.low - 0.5 <= difference <= estimate.high + 0.5
        )  # on a grid of 1
        plain.append(not estimate.sampling[0] - 0.5 <= difference <= estimate.sampling[1] + 0.5)
    assert few_errors(figure, wrong, plain)


def test_squares_of_distances_would_be_too_short():
    """Why the ends are added as they are: of values with a gap, squares miss far too often."""
    rng = np.random.default_rng(3)
    answer = protect(np.ones(2000), expected_rows=800).sql(ASK, epsilon=5)
    missed = []
    for _ in range(150):
        groups = [gap(0.51)(rng, 400), gap(0.49)(rng, 400)]
        both = list(drawn(answer, groups, rng).population())
        ends = [
            np.array([getattr(estimate, end) for estimate in both]) for end in ("low", "high")
        ]
        low, high = combine_ends(
            [1, -1], np.array([estimate.value for estimate in both]), *ends
        )
        missed.append(not low <= -1000 <= high)
    assert np.mean(missed) > 0.1


# A: median 400, B: median 300.
VALUES = np.stack([np.linspace(0, 800, 4000), np.linspace(0, 600, 4000)], axis=1).ravel()


@pytest.fixture(scope="module")
def release():
    """With little noise."""
    return protect(VALUES).sql(ASK, epsilon=50)


def test_each_group_has_half_of_the_error(release):
    estimate = infer.difference(release, "A", "B")
    first, second = release.population(confidence=0.975)
    assert estimate.interval == (first.low - second.high, first.high - second.low)
    assert estimate.noise == (
        first.noise[0] - second.noise[1],
        first.noise[1] - second.noise[0],
    )
    assert estimate.value == first.value - second.value
    assert estimate.low < 100 < estimate.high < 200
    assert estimate.what == "MEDIAN(x) of A less that of B"
    assert "independent draws" in estimate.target
    assert estimate.confidence == 0.95
    assert estimate.p_value == 0.05  # less is not told: the noise has a fixed part of the error
    assert infer.difference(release, "A", "B", value="m") == estimate
    assert infer.trend(release).value == -estimate.value


def test_half_of_the_error_needs_quantiles_that_are_further_away():
    """With 39 % of the expected rows those that were released are far enough for one group by
    itself, and not for two."""
    few = protect(VALUES, expected_rows=20_500).sql(ASK, epsilon=50)
    assert all(0 < estimate.low < estimate.high < 1000 for estimate in few.population())
    assert infer.difference(few, "A", "B").interval == (-1000, 1000)


def test_ratios_of_quantiles(release):
    first, second = release.population(confidence=0.975)
    estimate = infer.ratio(release, "A", "B")
    assert estimate.value == first.value / second.value
    assert estimate.interval == (first.low / second.high, first.high / second.low)
    assert estimate.low > 1
    assert estimate.p_value == 0.05
    empty = protect([0.0, 500.0] * 400).sql(ASK, epsilon=50)
    over_nothing = infer.ratio(empty, "B", "A")
    assert over_nothing.high == over_nothing.value == np.inf
    assert "inf ± inf from noise, ± inf from sampling" in str(over_nothing)
    assert infer.ratio(empty, "A", "B").value == 0
    nothing = infer.ratio(protect([0.0, 0.0] * 400).sql(ASK, epsilon=50), "A", "B")
    assert np.isnan(nothing.value)
    assert nothing.interval == (0, np.inf)
    assert nothing.p_value == 1


def test_the_noise_alone(release):
    estimate = infer.difference(release, "A", "B", sampling=False)
    first, second = release.population(confidence=0.975)
    assert estimate.interval == estimate.noise
    assert estimate.noise == (
        first.noise[0] - second.noise[1],
        first.noise[1] - second.noise[0],
    )
    assert estimate.sampling is None
    assert "these rows" in estimate.target
    text = "SELECT ward, MEDIAN(x) AS m FROM v GROUP BY ward"
    plain = protect(np.arange(2000) % 1000).sql(text, epsilon=10)
    with pytest.raises(InvalidParameter, match=r"Ask confidence=0\.975, or take .*=0\.9 here"):
        infer.difference(plain, "A", "B", sampling=False)
    assert infer.difference(plain, "A", "B", sampling=False, confidence=0.9).value <= 2


def test_all_pairs_of_medians_hold_together(release):
    values, wards = np.arange(6000) % 1000, tuple("ABC")
    session = protect(values, wards)
    answer = session.sql(ASK, epsilon=50)
    pairs = infer.all_pairs(answer)
    alone = infer.all_pairs(answer, correction="none")
    assert [pair.confidence for pair in pairs] == pytest.approx([1 - 0.1 / 3] * 3)
    for pair, single, key in zip(pairs, alone, ("AB", "AC", "BC"), strict=True):
        assert single == infer.difference(answer, *key)
        assert pair.low <= single.low
        assert single.high <= pair.high
    four = protect(values, tuple("ABCD"))
    with pytest.raises(InvalidParameter, match=r"FOR POPULATION with confidence=0\.975, or"):
        infer.all_pairs(four.sql(ASK, epsilon=5))
    assert len(infer.all_pairs(four.sql(ASK, epsilon=5, confidence=0.975))) == 6


def test_groups_that_were_chosen_are_refused(release):
    session = protect(np.arange(2000) % 1000)
    text = "SELECT ward, COUNT(x) AS n, MEDIAN(x) AS m FROM v GROUP BY ward"
    for end in ("HAVING m > 1", "ORDER BY m LIMIT 2"):
        chosen = session.sql(f"{text} {end}", epsilon=5, confidence=0.99)
        with pytest.raises(InvalidParameter, match="chose the groups"):
            infer.difference(chosen, "A", "B", value="m")
        with pytest.raises(InvalidParameter, match="chose the groups"):
            chosen.population()
    with pytest.raises(InvalidParameter, match="Two different groups"):
        infer.difference(release, "A", "A")


def test_a_mean_is_meant_before_a_quantile():
    session = protect(np.arange(2000) % 1000)
    text = "SELECT ward, COUNT(x) AS n, AVG(x) AS a, MEDIAN(x) AS m FROM v GROUP BY ward"
    both = session.sql(text, epsilon=50, confidence=Fraction(99, 100))
    assert infer.difference(both, "A", "B").what.startswith("AVG(x)")
    assert infer.difference(both, "A", "B", value="m").what.startswith("MEDIAN(x)")
    with pytest.raises(InvalidParameter, match="neither a count, a sum, a mean nor a share"):
        infer.odds_ratio(both, "A", "B", value="m")


def test_an_end_at_a_bound_is_explained():
    session = protect(np.arange(2000) % 1000, expected_rows=20_000)
    estimate = infer.difference(session.sql(ASK, epsilon=50), "A", "B")
    assert estimate.interval == (-1000, 1000)
    assert len(estimate.notes) == 2
    assert "a smaller expected_rows" in estimate.notes[0]
