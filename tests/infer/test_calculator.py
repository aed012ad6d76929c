import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.calculator import OPERATIONS, calculate, number_columns
from deniable.infer.groups.readings import groups_of

TEXT = "SELECT ward, COUNT(cost) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def release():
    rows = pa.table({"ward": ["A"] * 300 + ["B"] * 100 + ["C"] * 200, "cost": [2] * 600})
    visits = dp.protect(
        rows,
        name="visits",
        bounds={"cost": (0, 10)},
        keys={"ward": ["A", "B", "C"]},
        epsilon=10,
    )
    return visits.sql(TEXT, epsilon=5)


def test_it_offers_groups_and_numbers(release):
    assert groups_of(release) == ("A", "B", "C")
    assert number_columns(release) == ("n", "s", "m")


@pytest.mark.parametrize(
    ("operation", "first", "second", "truth"),
    [
        ("sum", ["A", "B"], [], 400),
        ("difference", ["A"], ["B"], 200),
        ("ratio", ["A"], ["B"], 3),
        ("share", ["A"], [], 0.5),
        ("share", ["A"], ["A", "B"], 0.75),
    ],
)
def test_each_operation_covers_the_truth(release, operation, first, second, truth):
    estimate = calculate(release, operation, first, second, value="n", confidence=0.999999)
    assert estimate.low <= truth <= estimate.high
    assert estimate.margin == max(estimate.value - estimate.low, estimate.high - estimate.value)


def test_means_are_compared_one_by_one(release):
    assert abs(calculate(release, "difference", ["A"], ["B"], value="m").value) < 1
    assert calculate(release, "ratio", ["A"], ["B"], value="m").low < 1
    with pytest.raises(InvalidParameter, match="cannot be added"):
        calculate(release, "ratio", ["A", "C"], ["B"], value="m")
    with pytest.raises(InvalidParameter, match="is a mean"):
        calculate(release, "sum", ["A", "C"], value="m")


def test_what_is_missing_is_told(release):
    for operation in OPERATIONS:
        with pytest.raises(InvalidParameter, match="Tick at least one group"):
            calculate(release, operation, [], ["B"], value="n")
    with pytest.raises(InvalidParameter, match="second kind"):
        calculate(release, "ratio", ["A"], value="n")
    with pytest.raises(InvalidParameter, match="must be one of"):
        calculate(release, "product", ["A"], value="n")
