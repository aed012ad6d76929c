import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter
from deniable.infer.table_tests import draw_counts, fit_p, independence_p
from tests.infer import naive
from tests.infer.simulated import few_errors, noisy_counts

EVEN, UNEVEN = ([0.5, 0.5], [0.5, 0.5]), ([0.9, 0.1], [0.97, 0.03])
WIDE = ([0.4, 0.35, 0.25], [0.6, 0.3, 0.1])
DESIGNS = [
    (50, 0.5, EVEN),
    (50, 5, EVEN),
    (500, 0.1, UNEVEN),
    (500, 2, EVEN),
    (500, 0.5, WIDE),
    (9000, 0.1, EVEN),
    (50_000, 0.1, UNEVEN),
    (50_000, 5, WIDE),
    (50, 0.1, UNEVEN),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("units", "epsilon", "margins"), DESIGNS)
def test_independent_keys_seldom_seem_dependent(units, epsilon, margins, size, figure):
    releases = size(small=40, full=10_000, what="simulated tables")
    rng = np.random.default_rng(units)
    cells, wrong, tables = np.outer(*margins), [], []
    for _ in range(releases):
        counts = noisy_counts(rng, rng.multinomial(units, cells.ravel()), epsilon)
        tables.append(counts.values.reshape(cells.shape))
        wrong.append(independence_p(tables[-1], counts, level=0.05)[1] <= 0.05)
    assert few_errors(figure, wrong, naive.dependent(np.array(tables)))


def test_both_sides_of_a_comparison_are_simulated_with_noise_of_their_own():
    rng = np.random.default_rng(1)
    counts = noisy_counts(rng, [[10, 20], [30, 40]], 0.1)
    sides = [draw_counts(counts, np.full(2, 0.5), 0, rng, 500, side) for side in (0, 1)]
    assert abs(np.corrcoef(sides[0].ravel(), sides[1].ravel())[0, 1]) < 0.2


def test_the_naive_chi_square_is_wrong_too_often():
    rng = np.random.default_rng(1)
    cells = rng.multinomial(500, [0.25] * 4, 1_000)
    tables = noisy_counts(rng, cells, 0.1).values.reshape(1_000, 2, 2)
    assert naive.dependent(tables).mean() > 0.13


def test_a_clear_dependence_is_found_and_little_noise_changes_little():
    counts = noisy_counts(np.random.default_rng(2), [[300, 200], [200, 300]], 10)
    statistic, p = independence_p(counts.values.reshape(2, 2), counts)
    assert statistic == pytest.approx(40, rel=0.02)
    assert p < 0.0015
    counts = noisy_counts(np.random.default_rng(2), [[270, 240], [230, 260]], 10)
    statistic, p = independence_p(counts.values.reshape(2, 2), counts)
    assert p == pytest.approx(chi2.sf(statistic, 1), abs=0.015)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("units", "epsilon"),
    [(400, 0.1), (400, 1), (50, 1), (50, 5), (50_000, 0.1), (50_000, 5), (50, 0.1)],
)
def test_right_shares_fit(units, epsilon, size, figure):
    releases = size(small=60, full=10_000, what="simulated fits")
    rng = np.random.default_rng(3)
    shares = np.array([0.6, 0.3, 0.08, 0.02])
    wrong, seen = [], []
    for _ in range(releases):
        counts = noisy_counts(rng, rng.multinomial(units, shares), epsilon)
        seen.append(counts.values)
        wrong.append(fit_p(counts, shares, level=0.05)[1] <= 0.05)
    assert few_errors(figure, wrong, naive.fit_badly(np.array(seen), shares))


@pytest.fixture(scope="module")
def visits():
    rows = {"ward": ["A", "B"] * 400, "sick": ["yes", "no", "yes", "yes"] * 200}
    keys = {"ward": ["A", "B"], "sick": ["yes", "no"]}
    return dp.protect(pa.table(rows), name="visits", keys=keys, epsilon=1000)


def test_tables_of_a_release(visits):
    text = "SELECT ward, sick, COUNT(*) AS n FROM visits GROUP BY ward, sick"
    tested = infer.independence_test(visits.sql(text, epsilon=3))
    assert tested.rejects()
    assert tested.hypothesis == "ward and sick are independent"


def test_fit_of_a_release(visits):
    release = visits.sql("SELECT sick, COUNT(*) AS n FROM visits GROUP BY sick", epsilon=3)
    assert not infer.fit_test(release, [0.75, 0.25]).rejects()
    assert infer.fit_test(release, [0.5, 0.5]).rejects()
    with pytest.raises(InvalidParameter, match="add up to 1"):
        infer.fit_test(release, [0.5, 0.4])
    with pytest.raises(InvalidParameter, match="one share for each of the 2"):
        infer.fit_test(release, [1.0])
    with pytest.raises(InvalidParameter, match="`shares` must be finite"):
        infer.fit_test(release, [float("nan"), 0.5])
    with pytest.raises(InvalidParameter, match=r"grouped by two keys\. It has 1"):
        infer.independence_test(release)


def test_groups_that_were_found_are_refused():
    rows = pa.table({"id": list(range(600)), "ward": ["A", "B"] * 300})
    visits = dp.protect(rows, name="visits", unit="id", epsilon=10, delta=1e-6)
    release = visits.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    with pytest.raises(InvalidParameter, match="were found in the data"):
        infer.fit_test(release, [0.5, 0.5])


def test_the_shares_of_strata_are_no_shares_of_the_population():
    rows = pa.table({"ward": ["A", "B"] * 300})
    sample = {"by": "ward", "fraction": {"A": 0.5, "B": 0.1}}
    keys = {"ward": ["A", "B"]}
    visits = dp.protect(rows, name="visits", keys=keys, epsilon=10, sample=sample)
    release = visits.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=5)
    with pytest.raises(InvalidParameter, match="drawn in strata of ward"):
        infer.fit_test(release, [0.5, 0.5])
