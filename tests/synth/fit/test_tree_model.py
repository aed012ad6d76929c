"""The tree model: exact tables give the exact model, and noisy ones a consistent one."""

import numpy as np
import pytest

from deniable.synth.fit.nonnegative_tables import project_table
from deniable.synth.fit.tree_model import (
    NoisyTable,
    TreeModel,
    estimate_total,
    total_variance,
)

RNG = np.random.default_rng(2)
SIZES = (3, 4, 2)
WHOLE = RNG.integers(1, 30, SIZES).astype(float)
TOTAL = WHOLE.sum()
PAIRS = {(0, 1): WHOLE.sum(axis=2), (1, 2): WHOLE.sum(axis=0)}
SINGLE = [WHOLE.sum(axis=tuple(j for j in range(3) if j != i)) for i in range(3)]


def noisy(table, deviation):
    return NoisyTable(table + RNG.normal(0, deviation, table.shape), deviation**2)


def test_exact_tables_stay():
    single = [NoisyTable(table, 1e-6) for table in SINGLE]
    pairs = {pair: NoisyTable(table, 1e-6) for pair, table in PAIRS.items()}
    model = TreeModel.fit(single, pairs, TOTAL)
    for pair, table in PAIRS.items():
        assert np.allclose(model.pairs[pair], table, rtol=1e-4)
    assert np.allclose(model.pair(1, 0), PAIRS[0, 1].T, rtol=1e-4)


def test_tables_are_consistent_and_not_negative():
    model = TreeModel.fit(
        [noisy(table, 20) for table in SINGLE],
        {pair: noisy(table, 20) for pair, table in PAIRS.items()},
        TOTAL,
    )
    for (a, b), table in model.pairs.items():
        assert (table >= 0).all()
        assert np.allclose(table.sum(axis=0), model.one_ways[b], atol=0.02 * TOTAL)
        assert np.allclose(table.sum(), TOTAL)
        assert np.isclose(model.one_ways[a].sum(), TOTAL)


def test_pairs_make_one_way_tables_more_accurate():
    def mean_error(with_pairs):
        errors = []
        for _ in range(60):
            pairs = {p: noisy(t, 5) for p, t in PAIRS.items()} if with_pairs else {}
            model = TreeModel.fit([noisy(table, 20) for table in SINGLE], pairs, TOTAL)
            errors.append(np.abs(model.one_ways[1] - SINGLE[1]).sum())
        return np.mean(errors)

    assert mean_error(with_pairs=True) < 0.7 * mean_error(with_pairs=False)


def test_the_total_is_weighted_by_precision():
    tables = [NoisyTable(np.array([10.0, 10.0]), 4.0), NoisyTable(np.array([26.0]), 8.0)]
    assert estimate_total(tables) == 23.0
    assert total_variance(tables) == 4.0


@pytest.mark.parametrize("total", [0.0, -3.0])
def test_an_empty_table_has_a_model(total):
    single = [noisy(np.zeros(size), 3) for size in SIZES]
    pairs = {pair: noisy(np.zeros(table.shape), 3) for pair, table in PAIRS.items()}
    model = TreeModel.fit(single, pairs, total)
    assert all(np.isfinite(table).all() for table in model.pairs.values())


def test_edges_begin_at_the_root():
    model = TreeModel(1.0, (), {(0, 2): np.zeros(1), (1, 2): np.zeros(1)})
    assert model.edges_from(0) == [(0, 2), (2, 1)]


def test_a_pair_of_pure_noise_is_independent_and_a_clear_one_stays():
    rows, columns = np.full(20, 50.0), np.full(20, 50.0)
    single = [NoisyTable(rows, 1.0), NoisyTable(columns, 1.0)]
    product = np.outer(rows, columns) / 1000
    weak = TreeModel.fit(single, {(0, 1): noisy(product, 30)}, 1000.0)
    far = np.abs(weak.pairs[0, 1] - product).sum()
    assert far < 0.5 * np.abs(project_table(noisy(product, 30).counts, 1000.0) - product).sum()
    clear = np.diag(rows)
    strong = TreeModel.fit(single, {(0, 1): noisy(clear, 1)}, 1000.0)
    assert np.abs(strong.pairs[0, 1] - clear).sum() < 200
