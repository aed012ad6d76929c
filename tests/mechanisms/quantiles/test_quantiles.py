from fractions import Fraction as F

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter, MissingRelation
from deniable.mechanisms.quantiles import Quantiles
from deniable.mechanisms.quantiles.fixed_target import FixedTargetQuantiles
from deniable.mechanisms.quantiles.joint import JointQuantiles
from deniable.mechanisms.quantiles.quantile_method import MOST_UNIT
from deniable.mechanisms.quantiles.recursive import RecursiveQuantiles
from tests.mechanisms.quantiles.contract import rank_errors


def spread(count):
    return [F(k, count + 1) for k in range(1, count + 1)]


def mean_error(count, neighbors, draw, trials, **options):
    mechanism = Quantiles(
        spread(count), epsilon=1, bounds=(-100, 100), step=0.01, neighbors=neighbors, **options
    )
    errors = []
    for _ in range(trials):
        column = draw()
        cells = mechanism.grid.nearest(np.array(mechanism.release(column).values))
        records = mechanism.grid.nearest(column)
        errors.append(rank_errors(records, mechanism.grid.size, cells, mechanism.quantiles))
    return np.mean(errors)


@pytest.mark.parametrize(
    ("count", "neighbors", "most"),
    [(9, "replace", 7), (29, "replace", 14), (29, "add-remove", 8)],
)
def test_ranks_on_a_twentieth_of_the_range(count, neighbors, most, size):
    trials = size(small=20, full=200, what=f"releases of {count} quantiles")
    rng = np.random.default_rng(1)
    error = mean_error(count, neighbors, lambda: rng.uniform(-5, 5, 1000), trials)
    assert error <= (most if trials >= 200 else 1.25 * most)  # few trials scatter


@pytest.mark.parametrize(("count", "least"), [(9, 15), (29, 50)])
def test_one_by_one_they_are_several_times_worse(count, least):
    rng = np.random.default_rng(1)
    draw = lambda: rng.uniform(-5, 5, 1000)  # noqa: E731
    assert mean_error(count, "replace", draw, 10, method="independent") > least


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_an_atom_on_the_median_is_hit(neighbors, size):
    trials = size(small=100, full=1_000, what="medians of a column with an atom")
    median = Quantiles(0.5, epsilon=1, bounds=(-100, 100), step=0.01, neighbors=neighbors)
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(trials):
        column = np.concatenate(
            [np.zeros(100), rng.uniform(-5, 0, 450), rng.uniform(0, 5, 450)]
        )
        hits += median.release(column).values == (0.0,)
    assert hits >= 0.95 * trials


@pytest.mark.parametrize("method", ["joint", "fixed-target", "recursive", "tree"])
def test_half_zeros_do_not_hurt(method):
    rng = np.random.default_rng(3)

    def draw():
        return np.where(rng.random(1000) < 0.5, 0.0, rng.uniform(-5, 5, 1000))

    smooth = mean_error(9, "add-remove", lambda: rng.uniform(-5, 5, 1000), 20, method=method)
    assert mean_error(9, "add-remove", draw, 20, method=method) < 2 * smooth + 2


def test_values_and_cells_are_one():
    mechanism = Quantiles([0.1, 0.6], epsilon=1000, bounds=(10, 30), neighbors="replace")
    values = [12] * 50 + [20] * 100 + [29] * 50
    assert mechanism.release(values).values == (12, 20)
    assert mechanism.release_cells([2, 10, 19], [50, 100, 50]).values == (12, 20)
    outside = mechanism.release(np.array([-5.0] * 50 + [1e300] * 150))
    assert outside.values == (10, 30)


def test_it_is_a_value():
    first = Quantiles([0.5, 0.9], epsilon=1, bounds=(0, 9), neighbors="replace")
    second = Quantiles(np.array([0.5, 0.9]), epsilon=1, bounds=(0, 9), neighbors="replace")
    assert first == second
    assert hash(first) == hash(second)
    assert first != Quantiles([0.5, 0.9], epsilon=2, bounds=(0, 9), neighbors="replace")
    with pytest.raises(AttributeError):
        first.epsilon = 3


def test_odds():
    by_odds = Quantiles(0.5, odds=3, bounds=(0, 9), neighbors="replace")
    assert by_odds.loss.epsilon() <= np.log(3)
    assert by_odds.loss.epsilon() == pytest.approx(np.log(3))


def test_the_margin_falls_with_epsilon_and_is_bounded_by_the_rows():
    def margin(epsilon, confidence=0.95, rows=10**6):
        mechanism = Quantiles(spread(9), epsilon=epsilon, bounds=(0, 999), neighbors="replace")
        return mechanism.margin(confidence, rows=rows)

    assert margin(10) < margin(1) < margin(0.1)
    assert margin(1, 0.5) < margin(1, 0.999)
    assert margin(0.001, rows=50) == 50
    for bad in (0, 1, -1, "x"):
        with pytest.raises(InvalidParameter, match="confidence"):
            margin(1, bad)


@pytest.mark.parametrize("bad", [[], [0.5, 0.5], [0.9, 0.1], 0, 1, [0.5, 2], "0.5", [None]])
def test_bad_quantiles_are_refused(bad):
    with pytest.raises(InvalidParameter, match="quantiles"):
        Quantiles(bad, epsilon=1, bounds=(0, 9), neighbors="replace")


def test_bad_arguments_are_refused():
    with pytest.raises(MissingRelation):
        Quantiles(0.5, epsilon=1, bounds=(0, 9), neighbors=None)
    with pytest.raises(InvalidParameter, match="epsilon"):
        Quantiles(0.5, bounds=(0, 9), neighbors="replace")
    with pytest.raises(InvalidParameter, match="method"):
        Quantiles(0.5, epsilon=1, bounds=(0, 9), neighbors="replace", method="best")
    with pytest.raises(InvalidData):
        Quantiles(0.5, epsilon=1, bounds=(0, 9), neighbors="replace").release([float("nan")])


@pytest.mark.parametrize(
    "method", ["independent", "joint", "recursive", "fixed-target", "tree"]
)
@pytest.mark.parametrize("epsilon", ["1e-12", "1e-6", "1e4", "1e12"])
def test_no_epsilon_is_too_small_or_too_large(method, epsilon):
    mechanism = Quantiles(
        [0.1, 0.2, 0.4, 0.8],
        epsilon=F(epsilon),
        bounds=(0, 9),
        neighbors="add-remove",
        method=method,
    )
    for cells, counts in (([], []), ([3], [1]), ([1, 4, 9], [300, 300, 400])):
        values = mechanism.release_cells(cells, counts).values
        assert len(values) == 4
        if len(cells) == 3 and float(epsilon) > 1:
            assert values == (1, 1, 4, 9)
    assert 0 <= mechanism.margin(rows=1000) <= 1000


def test_units_of_joint_draws_have_a_limit():
    """Beyond it, the integers of a draw would have as many bits as epsilon."""
    levels, epsilon = (F(1, 5), F(1, 2)), F(10**12)
    joint, fixed, recursive = (
        kind(levels, epsilon, "add-remove", 10)
        for kind in (JointQuantiles, FixedTargetQuantiles, RecursiveQuantiles)
    )
    assert joint.unit == fixed.unit == recursive.unit(F(1, 2)) == MOST_UNIT
