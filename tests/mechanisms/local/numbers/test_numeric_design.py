import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import Duchi


def test_counts_of_another_design_are_refused():
    design, other = Duchi(odds=3, low=0, high=1), Duchi(odds=4, low=0, high=1)
    tally = design.aggregate([0, 1])
    assert design.estimate(counts=tally).respondents == 2
    for bad in (tally, (1, 1)):
        with pytest.raises(InvalidParameter, match="aggregate"):
            other.estimate(counts=bad)
    with pytest.raises(InvalidParameter, match="either"):
        design.estimate()
