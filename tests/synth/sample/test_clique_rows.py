"""Rows from cliques: their tables are those of the model, up to rounding."""

import numpy as np
import pytest

from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.tree_model import NoisyTable
from deniable.synth.sample.clique_rows import sample_cliques
from deniable.synth.sample.tree_rows import count_rows


@pytest.fixture(scope="module")
def model():
    chance = np.random.default_rng(5)
    sizes = (3, 2, 4, 2)
    single = [NoisyTable(chance.random(k) * 1000, 1.0) for k in sizes]
    tables = {(0, 1): (3, 2), (1, 2): (2, 4), (0, 2): (3, 4), (2, 3): (4, 2)}
    noisy = {own: NoisyTable(chance.random(s) * 500, 1.0) for own, s in tables.items()}
    return CliqueModel.independent(single, 1000.0, {}).fit(noisy, 50)


def test_rows_have_the_tables_of_the_model(model):
    rows = sample_cliques(model, 20_000, np.random.default_rng(6))
    for columns in ((0,), (0, 1), (1, 2), (0, 2), (2, 3)):
        counts = count_rows(rows, columns, model.tree.sizes) / 20
        assert np.abs(counts - model.marginal(columns).ravel()).sum() < 12


@pytest.mark.parametrize("count", [0, 1])
def test_few_rows(model, count):
    assert sample_cliques(model, count, np.random.default_rng(7)).shape == (count, 4)
