"""Several classes: shares of the confusion table."""

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.learn.evaluation.class_table import ClassTable
from deniable.learn.evaluation.ratio_intervals import NoiseLaw

COUNTS = np.array([[[50, 5, 5], [4, 30, 6], [1, 2, 17]], [[20, 0, 0], [0, 20, 0], [0, 5, 5]]])


def table(law=None):
    return ClassTable(COUNTS.astype(float), law or NoiseLaw(1.0), ("x", "y", "z"), ("a", "b"))


def test_shares_are_those_of_the_cells():
    cells = table()
    assert cells.accuracy().value == pytest.approx(142 / 170)
    assert cells.accuracy("b").value == pytest.approx(45 / 50)
    assert cells.recall("z").value == pytest.approx(22 / 30)
    assert cells.precision("z").value == pytest.approx(22 / 33)
    assert cells.confusion()["y", "z"].value == 6
    gap = cells.accuracy_gap("b", "a")
    assert gap.value == pytest.approx(0.9 - 97 / 120)
    assert gap.low < gap.value < gap.high


def test_unknown_names_are_refused():
    with pytest.raises(InvalidParameter, match="Unknown class"):
        table().recall("w")
    with pytest.raises(InvalidParameter, match="Unknown group"):
        table().accuracy("w")
    with pytest.raises(InvalidParameter, match="shape"):
        ClassTable(COUNTS.astype(float), NoiseLaw(1.0), ("x", "y"))
