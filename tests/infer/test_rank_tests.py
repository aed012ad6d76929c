import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import mannwhitneyu

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.rank_tests import ranks_p
from deniable.infer.table_tests import read_table
from tests.infer import naive
from tests.infer.simulated import few_errors, noisy_counts

EVEN, RARE = [0.2] * 5, [0.9, 0.05, 0.03, 0.01, 0.01]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("shares", [EVEN, RARE], ids=["even", "rare"])
@pytest.mark.parametrize(("units", "epsilon"), [(60, 0.1), (60, 5), (1000, 0.1), (50_000, 2)])
def test_equal_groups_seldom_seem_to_differ(units, epsilon, shares, size, figure):
    releases = size(small=30, full=10_000, what="simulated histograms")
    rng = np.random.default_rng(units)
    wrong, tables = [], []
    for _ in range(releases):
        cells = [rng.multinomial(many, shares) for many in (units // 4, units)]
        counts = noisy_counts(rng, cells, epsilon)
        tables.append(counts.values.reshape(2, 5))
        wrong.append(ranks_p(tables[-1], counts, level=0.05)[1] <= 0.05)
    assert few_errors(figure, wrong, naive.ranks_differ(np.array(tables)))


def test_ranks_of_noisy_bins_tested_as_if_exact_are_wrong_too_often():
    rng = np.random.default_rng(2)
    cells = rng.multinomial(150, EVEN, (600, 2))
    tables = noisy_counts(rng, cells, 0.1).values.reshape(600, 2, 5)
    assert naive.ranks_differ(tables).mean() > 0.3
    first, second = (np.repeat(np.arange(5), row) for row in cells[0])
    plain = mannwhitneyu(first, second, method="asymptotic", use_continuity=False).pvalue
    assert naive.ranks_differ(cells[:1].astype(float))[0] == (plain <= 0.05)


def test_without_noise_it_is_mann_and_whitneys():
    rng = np.random.default_rng(8)
    cells = [rng.multinomial(300, EVEN), rng.multinomial(400, [0.15, 0.17, 0.2, 0.22, 0.26])]
    counts = noisy_counts(rng, cells, 100)
    first, second = (np.repeat(np.arange(5), row) for row in cells)
    plain = mannwhitneyu(first, second, method="asymptotic", use_continuity=False).pvalue
    assert 0.005 < plain < 0.2
    assert ranks_p(counts.values.reshape(2, 5), counts)[1] == pytest.approx(plain, abs=0.01)


def test_nearly_empty_bins_hardly_count_if_the_noise_is_large():
    """All bins have equal noise, and bins with few rows would add nothing else."""
    rng = np.random.default_rng(4)
    low, high = [0.3, 0.4, 0.2, 0.1, *[0.0] * 8], [0.1, 0.3, 0.35, 0.25, *[0.0] * 8]
    rejections = 0
    for _ in range(40):
        cells = [rng.multinomial(250, shares) for shares in (low, high)]
        counts = noisy_counts(rng, cells, 0.1)
        rejections += ranks_p(counts.values.reshape(2, 12), counts, level=0.05)[1] <= 0.05
    assert rejections / 40 > 0.5


def test_a_shift_is_found():
    rng = np.random.default_rng(3)
    cells = [rng.multinomial(500, EVEN), rng.multinomial(500, [0.1, 0.15, 0.2, 0.25, 0.3])]
    counts = noisy_counts(rng, cells, 0.2)
    assert ranks_p(counts.values.reshape(2, 5), counts)[1] < 0.01


def test_a_release_with_two_groups_is_needed():
    rows = pa.table({"ward": ["A", "B", "C"] * 200, "pain": [0, 1, 1, 0] * 150})
    keys = {"ward": ["A", "B", "C"], "pain": [0, 1]}
    visits = dp.protect(rows, name="visits", keys=keys, epsilon=10)
    text = "SELECT ward, pain, COUNT(*) AS n FROM visits GROUP BY ward, pain"
    release = visits.sql(text, epsilon=5)
    for groups in ((), ("A",)):
        with pytest.raises(InvalidParameter, match="The first key has 3 values: name"):
            infer.rank_test(release, *groups)
    with pytest.raises(InvalidParameter, match="no group 'D'"):
        infer.rank_test(release, "A", "D")
    tested = infer.rank_test(release, "A", "B")
    assert tested.hypothesis == "both groups have the same distribution"
    turned = infer.rank_test(release, "B", "A")
    assert turned.statistic == tested.statistic
    assert turned.p_value == pytest.approx(tested.p_value, abs=0.08)  # both are simulated


def test_a_released_histogram_is_compared():
    rng = np.random.default_rng(8)
    cost = (rng.gamma(2, 100, 4000) + np.arange(4000) % 2 * 40).clip(0, 1000)
    visits = dp.protect(
        pa.table({"ward": ["A", "B"] * 2000, "cost": cost}),
        name="v",
        bounds={"cost": (0, 1000)},
        keys={"ward": ["A", "B"]},
        epsilon=100,
    )
    text = "SELECT ward, HISTOGRAM(cost, 5) AS h FROM v GROUP BY ward"
    release = visits.sql(text, epsilon=5)
    assert infer.rank_test(release).rejects()
    tested = infer.independence_test(release, value="h")
    assert tested.rejects()
    assert tested.hypothesis == "ward and HISTOGRAM(cost, 5) are independent"
    counts, table, _ = read_table(release, None)
    assert table.tolist() == [
        [row[f"h[{200 * i} to {200 * i + 200}]"] for i in range(5)]
        for row in release.answer.table.to_pylist()
    ]
    assert counts.groups[1] == ("A", "200 to 400")
    by_keys = "SELECT ward, FLOOR(cost / 200) AS b, COUNT(*) AS n FROM v GROUP BY ward, b"
    assert infer.rank_test(visits.sql(by_keys, epsilon=5)).rejects()
    all_rows = visits.sql("SELECT HISTOGRAM(cost, 4) AS h FROM v", epsilon=5)
    assert infer.fit_test(all_rows, [0.1, 0.2, 0.3, 0.4]).rejects()
    beside = visits.sql(text.replace(" FROM", ", COUNT(cost) AS n FROM"), epsilon=5)
    with pytest.raises(InvalidParameter, match="name a HISTOGRAM with `value`"):
        infer.rank_test(beside)
    assert infer.rank_test(beside, value="h").rejects()
