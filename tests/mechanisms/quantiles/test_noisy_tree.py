from fractions import Fraction as F

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.mechanisms.quantiles.noisy_tree import (
    BRANCHES,
    TreeQuantiles,
    count_levels,
    fit_leaves,
)
from tests.mechanisms.quantiles.contract import rank_errors
from tests.mechanisms.quantiles.laws import histogram, neighbors


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("size", [4, 40])
def test_noise_covers_every_neighbour(relation, size):
    """The counts' sensitivity, exhaustively; the noise on each node is `Laplace`'s."""
    tree = TreeQuantiles((F(1, 2),), F(1), relation, size)
    cells = [0, 1, size // 2, size - 1]
    moved = 0
    for pair in neighbors(relation, 4, 4):
        first, second = (
            count_levels(histogram([cells[r] for r in table], size), tree.levels)
            for table in pair
        )
        moved = max(
            moved, sum(int(np.abs(a - b).sum()) for a, b in zip(first, second, strict=True))
        )
    assert moved == tree.scale * tree.epsilon


def matrix(levels):
    """Which leaves each node counts."""
    leaves = np.eye(BRANCHES**levels)
    rows = [
        leaves.reshape(BRANCHES**k, -1, leaves.shape[1]).sum(axis=1)
        for k in range(1, levels + 1)
    ]
    return np.concatenate(rows)


def test_consistency_is_least_squares():
    rng = np.random.default_rng(3)
    noisy = [rng.normal(size=BRANCHES**k) for k in (1, 2)]
    best, *_ = np.linalg.lstsq(matrix(2), np.concatenate(noisy), rcond=None)
    assert fit_leaves(noisy) == pytest.approx(best, abs=1e-9)


def test_weights_of_the_margin():
    """No noise weighs more than 1 in a point of the curve; squares add up as claimed."""
    curve = np.cumsum(np.linalg.pinv(matrix(2)), axis=0)
    assert np.abs(curve).max() <= 1 + 1e-9
    assert (curve**2).sum(axis=1).max() <= 2 * (BRANCHES - 1)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_margin_is_honest(relation, size):
    count = size(small=40, full=1_000, what="margins of tree")
    quantiles = tuple(F(k, 100) for k in range(1, 100))
    tree = TreeQuantiles(quantiles, F(1), relation, 1000)
    records = np.concatenate([np.full(1500, 3), np.arange(1500) // 2])
    data = histogram(records, 1000)
    errors = [
        rank_errors(records, 1000, tree.draw(data, SYSTEM).cells, quantiles).max()
        for _ in range(count)
    ]
    assert np.mean(np.array(errors) <= tree.rank_margin(0.5, 3000)) > 0.5
    assert max(errors) > 1


def test_without_noise_to_speak_of_the_quantiles_are_right():
    quantiles = tuple(F(k, 100) for k in range(1, 100))
    tree = TreeQuantiles(quantiles, F(10**6), "add-remove", 5000)
    records = np.arange(4000) * 7 % 4999
    drawn = tree.draw(histogram(records, 5000), SYSTEM)
    assert drawn.rows == 4000
    assert rank_errors(records, 5000, drawn.cells, quantiles).max() <= 1


@pytest.mark.parametrize("records", [(), (0,), (2, 2, 2)], ids=str)
def test_small_tables_release_something(records):
    tree = TreeQuantiles((F(1, 4), F(1, 2)), F(1), "replace", 4)
    cells = tree.draw(histogram(records, 4), SYSTEM).cells
    assert len(cells) == 2
    assert 0 <= cells[0] <= cells[1] < 4


def test_too_many_cells_are_refused():
    with pytest.raises(InvalidParameter, match="larger step"):
        TreeQuantiles((F(1, 2),), F(1), "replace", (1 << 24) + 1)
