from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Density
from deniable.mechanisms.histogram import Histogram
from deniable.mechanisms.noise.density import (
    _CANDIDATES,
    BINS,
    l1_sensitivity,
    l2_sensitivity,
    public_terms,
    sum_cosines,
    term_costs,
)
from deniable.privacy import PureLoss, RangeLoss

PLACES = (0, 1, BINS // 3, BINS // 2, BINS - 1)


def histogram(records):
    cells, counts = np.unique(np.array(records, dtype=np.int64), return_counts=True)
    return Histogram(BINS, cells, counts)


def neighbors(relation):
    """Pairs of tables of at most 3 records; one record may be anywhere in the other one."""
    for n in range(3):
        for rest in combinations_with_replacement(PLACES, n):
            for new in range(0, BINS, 29):
                if relation == "add-remove":
                    yield rest, (*rest, new)
                else:
                    for old in PLACES:
                        yield (*rest, old), (*rest, new)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("terms", [1, 5, 64])
def test_no_record_moves_the_sums_further_than_the_noise_covers(terms, relation):
    first = 0 if relation == "add-remove" else 1  # the number of rows is public under replace
    most = 0
    for left, right in neighbors(relation):
        apart = sum_cosines(histogram(left), terms) - sum_cosines(histogram(right), terms)
        most = max(most, int(np.abs(apart[first:]).sum()))
    assert most <= l1_sensitivity(terms, relation)
    assert most > 0.8 * l1_sensitivity(terms, relation)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_record_moves_the_choice_of_terms_further_than_it_pays_for(relation):
    most = 0
    for first, second in neighbors(relation):
        pairs = zip(
            term_costs(histogram(first), relation, Fraction(1)),
            term_costs(histogram(second), relation, Fraction(1)),
            strict=True,
        )
        most = max(most, *(abs(a - b) for a, b in pairs))
    assert most <= l2_sensitivity(relation) + 1
    assert most > l2_sensitivity(relation) / 2


def bumps(x):
    def normal(mean, sd):
        return np.exp(-0.5 * ((x - mean) / sd) ** 2) / sd / np.sqrt(2 * np.pi)

    return 0.6 * normal(40, 8) + 0.4 * normal(70, 6)


def column(rows):
    rng = np.random.default_rng(11)
    return np.where(rng.random(rows) < 0.6, rng.normal(40, 8, rows), rng.normal(70, 6, rows))


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "how", [{"rows": 100_000}, {"terms": "private"}, {"terms": 24}], ids=str
)
def test_the_curve_is_near_the_truth(how, relation):
    curve = Density(epsilon=1, bounds=(0, 100), neighbors=relation, **how).release(
        column(100_000)
    )
    xs = np.linspace(0.5, 99.5, 400)
    assert np.abs(curve.at(xs) - bumps(xs)).max() < 0.003
    assert (curve.heights >= 0).all()
    assert curve.heights.mean() * 100 == pytest.approx(1)
    assert curve.at(-1) == curve.at(101) == 0
    assert type(curve.at(3)) is float


def test_less_privacy_less_noise():
    def error(epsilon):
        mechanism = Density(epsilon=epsilon, bounds=(0, 100), neighbors="replace", terms=20)
        xs, data = np.linspace(0, 100, 200), column(1000)
        return np.mean([np.abs(mechanism.release(data).at(xs) - bumps(xs)) for _ in range(10)])

    assert error(10) < error(0.3) / 2


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_margin_is_honest(relation, size):
    trials = size(small=100, full=2_000, what="margins of a density")
    mechanism = Density(epsilon=1, bounds=(0, 100), neighbors=relation, terms=6)
    data = column(20_000)
    exact = Density(epsilon=10**9, bounds=(0, 100), neighbors=relation, terms=6).release(data)
    assert (exact.heights > 0).all() or exact.heights.min() == 0
    margin = mechanism.margin(0.5, rows=20_000)
    waves = np.cos(np.pi * np.arange(1, 7)[:, None] * (np.arange(BINS) + 0.5) / BINS)
    within = 0
    for _ in range(trials):
        off = np.array(mechanism.release(data).coefficients) - exact.coefficients
        within += np.abs(2 * off @ waves / 100).max() <= margin
    assert within / trials > 0.5 - 5 * (0.25 / trials) ** 0.5


def test_few_rows_take_few_terms():
    counts = [public_terms(rows, Fraction(1)) for rows in (1, 100, 10_000, 10**8)]
    assert counts == sorted(counts)
    assert counts[0] >= 1
    assert counts[-1] == 64
    chosen = {
        Density(epsilon=1, bounds=(0, 100), neighbors="replace", terms="private")
        .release(column(100))
        .terms
        for _ in range(40)
    }
    assert chosen <= set(_CANDIDATES)
    assert min(chosen) < 8


def test_losses():
    public = Density(epsilon=1, bounds=(0, 1), neighbors="replace", rows=100)
    assert public.loss == PureLoss(1)
    private = Density(epsilon=1, bounds=(0, 1), neighbors="replace", terms="private")
    assert set(private.loss.parts) == {(PureLoss(0.8), 1), (RangeLoss(0.2), 1)}
    assert private.loss.epsilon() == 1
    assert private.noise(5).loss == PureLoss(0.8)


def test_values_and_cells_are_one():
    mechanism = Density(epsilon=10**9, bounds=(0, BINS), neighbors="replace", terms=9)
    values = np.array([0.2, 3.9, 3.1, 500.5])
    by_cells = mechanism.release_cells([0, 3, 500], [1, 2, 1])
    assert mechanism.release(values).heights == pytest.approx(by_cells.heights, abs=1e-6)


@pytest.mark.parametrize("data", [[], [5.0]])
def test_small_tables_release_something(data):
    for relation in ("replace", "add-remove"):
        for how in ({"terms": 3}, {"terms": "private"}):
            curve = Density(epsilon=1, bounds=(0, 9), neighbors=relation, **how).release(data)
            assert np.isfinite(curve.heights).all()


def test_bad_arguments_are_refused():
    def make(**options):
        return Density(**{"epsilon": 1, "bounds": (0, 1), "neighbors": "replace", **options})

    for bad in ({}, {"rows": 5, "terms": 5}, {"terms": 0}, {"terms": 65}, {"rows": 0}):
        with pytest.raises(InvalidParameter, match=r"terms|rows"):
            make(**bad)
    for bounds in ((1, 0), (0, 0), 3, (0, 1, 2), "ab"):
        with pytest.raises(InvalidParameter, match="bounds"):
            make(terms=3, bounds=bounds)
    with pytest.raises(InvalidData):
        make(terms=3).release([float("nan")])
    with pytest.raises(InvalidParameter, match="terms"):
        make(terms="private").margin(rows=10)


def test_sums_of_very_many_rows_do_not_wrap_around():
    grid = Density(epsilon=1, bounds=(0, 9), neighbors="replace", terms=2).grid
    few, many = (Histogram.of_cells(grid, [0, 1], [n, 1]) for n in (1, 2**45))
    assert (sum_cosines(many, 2) - sum_cosines(few, 2)).tolist() == [
        (2**45 - 1) * cosine
        for cosine in sum_cosines(Histogram.of_cells(grid, [0], [1]), 2).tolist()
    ]
    for relation in ("replace", "add-remove"):
        for terms in (2, "private"):
            design = Density(epsilon=1, bounds=(0, 9), neighbors=relation, terms=terms)
            curve = design.release_cells([511], [2**45])
            assert curve.at(8.9) > curve.at(0)
