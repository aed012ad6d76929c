"""Contributions add up to the exact answers, as the engine computes them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.audit.attack.rows.row_contributions import contribute
from deniable.policy import Table

RNG = np.random.default_rng(4)
VISITS = pa.table(
    {
        "ward": RNG.choice(["A", "B", "C"], 40),
        "age": RNG.integers(0, 120, 40),
        "cost": RNG.integers(0, 400, 40) / 4,
        "ill": RNG.integers(0, 2, 40) == 1,
        "day": pa.array(RNG.integers(0, 3, 40), pa.int32()).cast(pa.date32()),
    }
)
OWNED = read_owned(
    VISITS,
    table="visits",
    bounds={"age": (0, 100), "cost": (0, 50)},
    step={"cost": 0.25},
    keys={"ward": ["A", "B"]},
)


def sums(text):
    known = contribute(OWNED, [text])
    totals = known.values().sum(axis=1).tolist()
    return {
        (str(number).split(", ")[1].split(" of ")[0], *number.keys): total
        for number, total in zip(known.numbers, totals, strict=True)
    }


def test_counts_and_clipped_sums():
    frame = VISITS.to_pandas()
    frame = frame[frame.ill & (frame.age.clip(upper=100) > 30)]
    text = (
        "SELECT COUNT(*) AS n, SUM(cost) AS c, AVG(age) AS a FROM visits WHERE ill AND age > 30"
    )
    assert sums(text) == {
        ("n",): len(frame),
        ("c",): pytest.approx(frame.cost.clip(upper=50).sum()),
        ("a × n",): frame.age.clip(upper=100).sum(),
    }


def test_groups_of_declared_private_and_dated_keys():
    frame = VISITS.to_pandas()
    by_ward = sums("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    assert by_ward == {("n", w): (frame.ward == w).sum() for w in "AB"}
    by_ill = sums("SELECT ill, COUNT(*) AS n FROM visits GROUP BY ill")
    assert by_ill == {("n", ill): (frame.ill == ill).sum() for ill in (False, True)}
    by_day = sums("SELECT day, COUNT(*) AS n FROM visits GROUP BY day")
    assert sorted(by_day.values()) == sorted(frame.groupby("day").size())


def test_having_order_and_limit_do_not_hide_what_was_measured():
    text = (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 99 ORDER BY n LIMIT 1"
    )
    assert len(sums(text)) == 2


def test_numbers_that_are_too_large_are_not_attacked():
    rows = pa.table({"x": [2.0**62, 1.0]})
    owned = read_owned(rows, bounds={"x": (0, 2**62)}, step={"x": 1})
    known = contribute(owned, ["SELECT SUM(x) AS s FROM data"])
    assert (known.numbers, len(known.skipped)) == ((), 1)


def test_every_row_adds_at_its_own_place():
    known = contribute(OWNED, ["SELECT COUNT(*) AS n FROM visits WHERE ill"])
    assert known.vectors[0].tolist() == [int(value) for value in VISITS["ill"].to_pylist()]


def test_as_if_the_secret_had_another_value():
    text = ["SELECT COUNT(*) AS n FROM visits WHERE ill AND ward = 'A'"]
    always = contribute(OWNED, text, {"ill": True}).vectors[0]
    assert always.tolist() == [int(ward == "A") for ward in VISITS["ward"].to_pylist()]
    assert not contribute(OWNED, text, {"ill": False}).vectors.any()


def test_an_average_is_a_sum_only_beside_the_count_of_its_values():
    rows = read_owned(pa.table({"x": [1, None, 5]}), bounds={"x": (0, 9)})
    beside = {"COUNT(x)": 1, "COUNT(*)": 0}
    for count, averages in beside.items():
        known = contribute(rows, [f"SELECT AVG(x) AS a, {count} AS n FROM data"])
        sums = [v for n, v in zip(known.numbers, known.vectors, strict=True) if n.times]
        assert [v.tolist() for v in sums] == [[1, 0, 5]] * averages


def test_an_average_alone_is_two_sums():
    rows = read_owned(pa.table({"x": [1, None, 5]}), bounds={"x": (0, 9)})
    (average,) = contribute(rows, ["SELECT AVG(x) AS a FROM data"]).averages
    ratio = average.scale * int(average.above.sum()) / int(average.below.sum())
    assert ratio == 3
    assert (average.below != 0).tolist() == [True, False, True]


@pytest.mark.parametrize("number", ["MEDIAN(cost)", "STDDEV(cost)", "COUNT(DISTINCT ward)"])
def test_what_is_not_linear_is_named_and_its_rows_are_known(number):
    text = f"SELECT {number} AS m FROM visits WHERE ill"
    known = contribute(OWNED, [text])
    assert known.numbers == ()
    assert known.skipped[0][0] == f"m in {text}"
    assert "only whether it is about few people" in known.skipped[0][1]
    ill = np.flatnonzero(VISITS["ill"].to_numpy(zero_copy_only=False))
    assert set(known.lone[0].rows.tolist()) <= set(ill.tolist())
    assert len(known.lone[0].rows) > 5


def test_rows_are_followed_through_sub_queries_that_do_not_group():
    inner = "SELECT ward, cost FROM visits WHERE ill"
    for source in (f"({inner})", f"(SELECT ward FROM ({inner}))", "(SELECT * FROM visits)"):
        known = contribute(OWNED, [f"SELECT COUNT(*) AS n FROM {source} WHERE ward = 'A'"])
        assert known.skipped == ()
        assert known.vectors.sum() > 0
    grouped = "SELECT COUNT(*) AS n FROM (SELECT ward, COUNT(*) AS c FROM visits GROUP BY ward)"
    assert "sub-query groups" in contribute(OWNED, [grouped]).skipped[0][1]


def test_joins_with_public_tables_are_followed_and_others_are_named():
    wards = Table("wards", pa.table({"ward": ["A"], "city": ["Ulm"]}), public=True)
    owned = replace(OWNED, beside=(wards,), private=("staff",))
    joined = "SELECT COUNT(*) AS n FROM visits JOIN {0} ON visits.ward = {0}.ward"
    known = contribute(owned, [joined.format("wards")])
    assert known.vectors[0].tolist() == [
        int(ward == "A") for ward in VISITS["ward"].to_pylist()
    ]
    reasons = {"staff": "private table 'staff'", "nix": "'nix', which is not given"}
    for name, why in reasons.items():
        assert why in contribute(owned, [joined.format(name)]).skipped[0][1]
    twice = "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.age = b.age"
    assert "twice" in contribute(owned, [twice]).skipped[0][1]
