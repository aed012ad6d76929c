"""Terms are read by public facts alone."""

import numpy as np

from deniable.learn.fit.feature_cells import FeatureCells
from deniable.learn.fit.scaled_terms import ScaledTerm, read_terms


def test_numbers_are_clipped_and_scaled():
    age = ScaledTerm("age", middle=50.0, half=50.0)
    assert age.read([0, 50, 100, 1e9, -5, None, "x"]).tolist() == [-1, 0, 1, 1, -1, 0, 0]
    assert age.name == "age"


def test_values_are_terms_of_their_own():
    cells = FeatureCells("sex", "text", ("f", "m", None))
    term = ScaledTerm("sex", cells=cells, code=1)
    assert term.name == "sex=m"
    assert term.read(["m", "f", None, "other"]).tolist() == [1, 0, 0, 0]
    rows = read_terms([term, ScaledTerm("n")], {"sex": ["m"], "n": [0.5]})
    assert np.array_equal(rows, [[1.0, 0.5]])
