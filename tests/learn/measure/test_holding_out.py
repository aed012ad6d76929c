"""Hold-outs: parts that the ledger knows, and nobody is in both."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.learn import NaiveBayes, hold_out

ROWS = pa.table(
    {
        "x": [0.0, 1.0] * 200,
        "y": [False, True] * 200,
        "who": [i // 4 for i in range(400)],
    }
)


def session(**more):
    return dp.protect(ROWS, bounds={"x": (0, 1), "who": (0, 100)}, epsilon=40, **more)


def count(part, column=""):
    sql = f"SELECT COUNT(*) AS n FROM data {column}"
    return round(part.session.sql(sql, epsilon=9).value)


@pytest.mark.parametrize(
    ("declared", "left"),
    [
        ({}, 38),
        ({"unit": "who", "max_rows_per_unit_per_group": 4}, 38),
        ({"neighbors": "replace"}, 37),
    ],
)
def test_the_parts_are_charged_side_by_side(declared, left):
    data = session(**declared)
    train, test = hold_out(data.table("data"), 0.25)
    model = NaiveBayes(epsilon=2, features=["x"]).fit(train, target="y")
    assert model.score(test, target="y", epsilon=1) > 0.5
    assert data.remaining.epsilon == left


def test_a_person_is_in_one_part():
    data = session(unit="who", max_rows_per_unit_per_group=4)
    train, test = hold_out(data.table("data"), 0.5, key="k")
    rows = [count(part) for part in (train, test)]
    assert abs(sum(rows) - 400) < 12  # with noise of both counts
    assert 100 < rows[0] < 300
    again, _ = hold_out(
        session(unit="who", max_rows_per_unit_per_group=4).table("data"), 0.5, key="k"
    )
    assert abs(count(again) - rows[0]) < 12
    units = [
        round(part.session.sql("SELECT COUNT(DISTINCT who) AS n FROM data", epsilon=9).value)
        for part in (train, test)
    ]
    assert abs(sum(units) - 100) < 4


def test_faults_are_refused():
    data = session()
    for share, key in ((0, None), (1, None), (0.5, "a'b")):
        with pytest.raises(InvalidParameter):
            hold_out(data.table("data"), share, key=key)
    train, _ = hold_out(data.table("data"))
    with pytest.raises(InvalidParameter, match="already"):
        hold_out(train)
    with pytest.raises(InvalidParameter, match="whole table"):
        hold_out(data.table("data").where("x > 0"))


@pytest.mark.parametrize("share", [1e-11, 0.99999999999])
def test_a_share_that_leaves_a_part_empty_is_refused(share):
    data = session()
    with pytest.raises(InvalidParameter, match="too near 0 or 1"):
        hold_out(data.table("data"), share)
