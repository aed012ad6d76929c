import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact import uniform_below
from deniable.mechanisms import RandomizedResponse
from deniable.privacy import PureLoss
from deniable.surveys import crosstab

COINS = RandomizedResponse(odds=3)


def test_published_table():
    table = crosstab(COINS, COINS, counts=[[1150, 850], [850, 1150]])
    assert table.raw == pytest.approx(np.array([[0.4, 0.1], [0.1, 0.4]]))
    # R of T = [[.30, .10], [.15, .45]], at n = 4000
    rates = np.array([[0.24375, 0.20625], [0.23125, 0.31875]])
    table = crosstab(COINS, COINS, counts=(4000 * rates).round().astype(int))
    assert table.raw == pytest.approx(np.array([[0.30, 0.10], [0.15, 0.45]]))
    errors = [0.01877, 0.01847, 0.01922, 0.02045]
    assert table.standard_error.ravel() == pytest.approx(errors, abs=5e-6)
    assert table.loss.epsilon() == (PureLoss(odds=3) * 2).epsilon()
    assert table.maximum_likelihood() == pytest.approx(table.raw, abs=1e-6)
    assert "±" in str(table)


def drawn(n, table):
    """People whose two answers follow a table exactly."""
    counts = (np.array(table) * n).round().astype(int)
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    return np.divmod(cells, counts.shape[1])


def test_a_table_is_recovered_with_the_stated_errors():
    truth = np.array([[0.30, 0.10, 0.05], [0.15, 0.25, 0.15]])
    three = RandomizedResponse(odds=6, categories=3)
    a, b = drawn(200_000, truth)
    whole = crosstab(COINS, three, (COINS.randomize(a), three.randomize(b)))
    assert (np.abs(whole.raw - truth) < 7 * whole.standard_error).all()
    low, high = whole.interval(1 - 1e-9)
    assert ((low <= truth) & (truth <= high)).all()
    # In 1,000 random groups.
    order = np.argsort(uniform_below(1 << 60, a.size))
    a, b = a[order].reshape(1000, -1), b[order].reshape(1000, -1)
    reports = COINS.randomize(a), three.randomize(b)
    tables = [crosstab(COINS, three, pair) for pair in zip(*reports, strict=True)]
    squares = np.mean([(t.raw - truth) ** 2 for t in tables], axis=0)
    stated = np.mean([t.standard_error**2 for t in tables], axis=0)
    assert squares.sum() == pytest.approx(stated.sum(), rel=0.1)


def test_independence_is_tested_at_its_level():
    product = np.outer([0.7, 0.3], [0.4, 0.6])
    a, b = drawn(200_000, product)
    order = np.argsort(uniform_below(1 << 60, a.size))
    a, b = a[order].reshape(1000, -1), b[order].reshape(1000, -1)
    pairs = zip(COINS.randomize(a), COINS.randomize(b), strict=True)
    p_values = [crosstab(COINS, COINS, pair).independence().p_value for pair in pairs]
    assert 20 <= sum(p < 0.05 for p in p_values) <= 90  # 50 expected, standard deviation 7
    linked = crosstab(COINS, COINS, counts=[[1150, 850], [850, 1150]]).independence()
    assert (linked.freedom, linked.p_value < 1e-15) == (1, True)


def test_association_shrinks_by_the_slopes():
    table = crosstab(COINS, COINS, counts=[[975, 825], [925, 1275]])

    def covariance(cells):
        return cells[1, 1] - cells[1].sum() * cells[:, 1].sum()

    reported = table.counts / table.respondents
    assert covariance(reported) == pytest.approx(0.25 * covariance(table.raw))


def test_a_public_column_is_taken_as_it_is():
    group = np.array([0, 0, 1, 1, 2, 2])
    table = crosstab(None, COINS, (group, np.array([0, 1, 0, 1, 0, 1])))
    assert table.raw == pytest.approx(np.full((3, 2), 1 / 6))
    assert table.loss.epsilon() == PureLoss(odds=3).epsilon()


def test_bad_tables():
    with pytest.raises(InvalidParameter, match="either"):
        crosstab(COINS, COINS)
    for bad in ([[1, 2, 3], [4, 5, 6]], [[0, 0], [0, 0]], [[-1, 2], [3, 4]], [1, 2]):
        with pytest.raises(InvalidData):
            crosstab(COINS, COINS, counts=bad)
    with pytest.raises(InvalidData, match="same number"):
        crosstab(COINS, COINS, ([1, 0], [1]))
    with pytest.raises(InvalidData, match="no reports"):
        crosstab(COINS, COINS, counts=[[5, 0], [5, 0]]).independence()
