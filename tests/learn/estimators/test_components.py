"""Principal components: how far one unit moves them, and what they find."""

from math import isclose, sqrt

import numpy as np
import pyarrow as pa
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.estimators.components import PCA
from deniable.learn.measure.moment_step import code_terms, moment_program
from tests.learn.movement import share_of_declared


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_unit_moves_the_products_by_more(neighbors, rows):
    X = pa.table({"who": [1, 1, 2], "a": [0, 1, 2], "b": [0, 1, 0], "c": [1, 1, 0]})
    bounds = {"a": (0, 2), "b": (0, 1), "c": (0, 1)}
    model = PCA(bounds=bounds, unit="who", max_rows_per_unit=rows, neighbors=neighbors)
    data = model.open(X, None, None)
    training = model.prepare(data)
    program = moment_program(training.sizes, code_terms(training.roles))
    share = share_of_declared(training, program)
    data.close()
    assert isclose(share, 1.0)


def test_components_are_near_those_of_the_rows():
    chance = np.random.default_rng(2)
    rows = chance.normal(size=(8_000, 2)) @ np.array([[2.0, 1.0], [0.0, 0.5]]) + 10
    rows = np.clip(rows, 0, 20)
    model = PCA(2, epsilon=1, bounds=(0, 20)).fit(rows)
    vectors = np.linalg.eigh(np.cov(rows.T))[1]
    assert abs(model.components_[0] @ vectors[:, -1]) > 0.99
    assert np.allclose(model.mean_, rows.mean(axis=0), atol=0.5)
    assert model.explained_variance_ratio_[0] > 0.8
    assert np.allclose(model.inverse_transform(model.transform(rows[:5])), rows[:5])
    assert model.scaled_margin_ > 0


def test_scaled_columns_have_equal_weight():
    chance = np.random.default_rng(4)
    rows = np.column_stack([chance.uniform(0, 1_000, 4_000), chance.uniform(0, 1, 4_000)])
    bounds = {"x0": (0, 1_000), "x1": (0, 1)}
    own = PCA(1, epsilon=1, bounds=bounds).fit(rows)
    scaled = PCA(1, scaled=True, epsilon=1, bounds=bounds).fit(rows)
    assert abs(own.components_[0, 0]) > 0.999
    assert scaled.explained_variance_[0] < 1.0
    assert abs(scaled.mean_[0] - 1.0) < 0.2
    assert np.allclose(scaled.transform([[0.0, 0.0]]).shape, (1, 1))


@pytest.mark.parametrize("count", [0, 3, 1.5])
def test_faults_are_found_before_the_charge(count):
    with pytest.raises(InvalidParameter, match="n_components"):
        PCA(count, bounds=(0, 1)).fit(np.ones((4, 2)))


def test_texts_are_refused():
    with pytest.raises(InvalidParameter, match="takes numbers"):
        PCA().fit(pa.table({"t": ["a", "b"]}))


def test_an_empty_table_gives_axes():
    model = PCA(bounds=(0, 1)).fit(np.ones((0, 2)))
    assert np.isfinite(model.transform([[0.5, 0.5]])).all()
    assert isclose(float(np.linalg.norm(model.components_[0])), 1.0)
    assert sqrt((model.components_[0] ** 2).sum()) == pytest.approx(1.0)
