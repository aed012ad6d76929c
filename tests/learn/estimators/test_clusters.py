"""k-means: how far one unit moves a step, by enumeration, and the centres that it finds."""

from math import isclose

import numpy as np
import pyarrow as pa
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.estimators.clusters import KMeans
from deniable.learn.fit.cluster_steps import count_weight, public_start, step_square
from deniable.learn.measure.cluster_program import cluster_program
from deniable.learn.measure.moment_step import SCALE, code_terms
from tests.learn.movement import share_of_declared

BOUNDS = {"a": (0, 2), "b": (0, 1), "c": (0, 2)}
TOY = pa.table({"who": [1, 1, 2], "a": [0, 1, 2], "b": [0, 1, 0], "c": [1, 2, 0]})


@pytest.mark.parametrize("weight", [1, count_weight([SCALE] * 3), 1_000])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_no_unit_moves_a_step_by_more(neighbors, rows, weight):
    model = KMeans(2, bounds=BOUNDS, unit="who", max_rows_per_unit=rows, neighbors=neighbors)
    data = model.open(TOY, None, None)
    training = model.prepare(data)
    coded = code_terms(training.roles)
    data.close()
    reaches = [SCALE] * 3
    shares = []
    for clusters in (1, 2, 3):
        centres = public_start(clusters, reaches)
        program = cluster_program(training.sizes, coded, centres, weight)
        declared = training.planner.sensitivities(program)[1]
        assert declared == rows**2 * step_square(weight, reaches, neighbors)
        shares.append(share_of_declared(training, program))
    assert max(shares) <= 1 + 1e-12
    assert isclose(max(shares), 1.0)


def test_the_engine_adds_up_what_the_rows_say(monkeypatch):
    """Without noise, one step is one step of k-means from the public start."""
    monkeypatch.setattr(
        "deniable.mechanisms.noise.gaussian.rounded_gaussian",
        lambda variance, size, **_: np.zeros(size, np.int64),
    )
    X = np.random.default_rng(1).integers(0, 256, size=(500, 2)).astype(float)
    model = KMeans(3, steps=1, bounds=(0, 255)).fit(X)
    start = np.rint(public_start(3, [SCALE] * 2))
    scaled = 2 * X - SCALE
    nearest = ((scaled[:, None] - start[None]) ** 2).sum(axis=2).argmin(axis=1)
    wanted = np.stack([X[nearest == own].mean(axis=0) for own in range(3)])
    assert np.allclose(model.cluster_centers_, wanted, atol=0.6)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_clusters_are_found(neighbors):
    chance = np.random.default_rng(2)
    middles = np.array([[2.0, 2.0], [8.0, 3.0], [5.0, 8.0]])
    X = np.concatenate([chance.normal(own, 0.5, (1_000, 2)) for own in middles])
    model = KMeans(3, epsilon=1, bounds=(0, 10), neighbors=neighbors, expected_rows=3_000).fit(
        X
    )
    apart = np.linalg.norm(model.cluster_centers_[:, None] - middles[None], axis=2)
    assert apart.min(axis=0).max() < 1.0
    assert np.bincount(model.predict(X)).min() > 900
    assert model.transform(X[:4]).shape == (4, 3)
    assert model.n_iter_ == 5


def test_the_rows_of_a_training_have_clusters_too():
    X = np.random.default_rng(3).integers(0, 11, (200, 2)).astype(float)
    model = KMeans(2, bounds=(0, 10))
    assert model.fit_predict(X).tolist() == model.predict(X).tolist()


def test_explain_says_how_many_steps():
    shown = str(KMeans(2, bounds=(0, 10), expected_rows=3_000).explain(np.ones((3, 2))))
    assert "5 steps from a public start, 2 centres" in shown
    assert "in the count of a centre" in shown


def test_an_empty_table_keeps_the_start():
    model = KMeans(2, epsilon=1, bounds=(0, 10)).fit(np.ones((0, 2)))
    assert ((model.cluster_centers_ >= 0) & (model.cluster_centers_ <= 10)).all()


@pytest.mark.parametrize("changed", [{"n_clusters": 0}, {"n_clusters": 99}, {"steps": 0}])
def test_faults_are_found_before_the_charge(changed):
    with pytest.raises(InvalidParameter):
        KMeans(bounds=(0, 1)).set_params(**changed).fit(np.ones((4, 2)))
