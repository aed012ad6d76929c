import pyarrow as pa
import pytest

import deniable as dp
from deniable import infer
from deniable.errors import InvalidParameter

MEANS = (
    "SELECT ward, COUNT(cost) AS n, AVG(cost) AS m, STDDEV(cost) AS d FROM visits GROUP BY ward"
)


@pytest.fixture(scope="module")
def release():
    """The means of A and B are 30 and 32, of C 45; the deviations about 15."""
    cost = {"A": [15.0, 45.0], "B": [17.0, 47.0], "C": [30.0, 60.0]}
    ward = [name for name in cost for _ in range(1000)]
    rows = pa.table({"ward": ward, "cost": [x for name in cost for x in cost[name] * 500]})
    visits = dp.protect(
        rows, name="visits", bounds={"cost": (0, 100)}, keys={"ward": list(cost)}, epsilon=20
    )
    return visits.sql(MEANS, epsilon=20)


def test_means_that_differ_are_told_apart(release):
    assert infer.t_test(release, "A", "C", value="m").p_value < 0.001
    assert infer.t_test(release, "A", "B", value="m").p_value < 0.05
    tested = infer.t_test(release, "B", "A", value="m")
    assert tested.statistic == pytest.approx(2, abs=0.3)
    assert tested.hypothesis == "AVG(cost) is the same in B and A"


def test_equivalence_needs_an_interval_within_the_limits(release):
    assert infer.equivalence_test(release, "A", "B", within=6, value="m").p_value < 0.01
    assert not infer.equivalence_test(release, "A", "B", within=2.5, value="m").rejects()
    assert infer.equivalence_test(release, "A", "C", within=6, value="m").p_value == 1
    with pytest.raises(InvalidParameter, match="must be positive"):
        infer.equivalence_test(release, "A", "B", within=0, value="m")


def test_counts_are_no_means(release):
    with pytest.raises(InvalidParameter, match="needs means or shares"):
        infer.t_test(release, "A", "B", value="n")
