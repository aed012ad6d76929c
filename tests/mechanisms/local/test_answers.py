import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.mechanisms import OLH, OUE, Duchi, RandomizedResponse, Rappor
from deniable.mechanisms.local.answers import read_answers


def test_reports_come_back_in_shape_and_kind():
    booleans = read_answers([[True, False]], 2)
    assert booleans.restore_shape(np.array([0, 1])) == [[False, True]]
    array = read_answers(np.array([2, 0], dtype=np.uint8), 3)
    assert array.restore_shape(np.array([1, 1])).tolist() == [1, 1]


def test_answers_do_not_print():
    assert "7" not in repr(read_answers([7], 8))


@pytest.mark.parametrize("bad", [["5"], [5.0], [True, 5], "5", [None], {}])
def test_bad_answers_are_not_quoted(bad):
    with pytest.raises(InvalidData) as caught:
        read_answers(bad, 2)
    assert "5" not in str(caught.value)


@pytest.mark.parametrize(
    "design",
    [
        RandomizedResponse(odds=3),
        OUE(odds=3, categories=4),
        OLH(odds=3, categories=4),
        Duchi(odds=3, low=0, high=1),
        Rappor(),
    ],
    ids=lambda design: type(design).__name__,
)
def test_rows_of_unequal_length_are_refused(design):
    with pytest.raises(InvalidData):
        design.aggregate([[1], [2, 3]])
