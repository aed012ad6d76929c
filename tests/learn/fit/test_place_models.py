"""Centres and axes in the units of the table."""

import numpy as np
import pytest

from deniable.learn.fit.place_models import CentreModel, halves_of, middles_of
from deniable.learn.fit.scaled_terms import ScaledTerm
from tests.learn.exports.models import axes_model

TERMS = (ScaledTerm("a", 50.0, 50.0), ScaledTerm("b", 2.0, 1.0))


def test_centres_have_the_units_of_the_columns():
    model = CentreModel(TERMS, np.array([[-1.0, 0.0], [1.0, 1.0]]))
    assert model.centres_in_units.tolist() == [[0.0, 2.0], [100.0, 3.0]]
    rows = {"a": [10, 90], "b": [2, 3]}
    assert model.nearest(rows).tolist() == [0, 1]
    assert model.distances(rows)[0, 0] == pytest.approx(0.2)
    assert halves_of(TERMS).tolist() == [50.0, 1.0]
    assert middles_of(TERMS).tolist() == [50.0, 2.0]


@pytest.mark.parametrize("scaled", [False, True])
def test_the_mean_has_no_coordinates(scaled):
    model = axes_model(scaled=scaled)
    halves = halves_of(model.terms)
    own = model.mean * (halves if scaled else 1.0)
    columns = {term.column: [value] for term, value in zip(model.terms, own, strict=True)}
    assert np.allclose(model.coordinates(columns), 0.0)
