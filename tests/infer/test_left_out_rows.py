from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.infer.groups.readings import read
from deniable.infer.left_out_rows import left_out
from deniable.policy import Column, Policy, Table
from deniable.release.public_session import Session
from deniable.release.session.connecting import connect
from tests.infer.simulated import (
    few_errors,
)

LEVEL = Fraction(19, 20)
ALL = "SELECT COUNT(x) AS n, AVG(x) AS m FROM v"
WARDS = "SELECT ward, COUNT(x) AS n, AVG(x) AS m FROM v GROUP BY ward"
# A third of the people have six rows, with 60 of 100; the others one row, with 20.
TRUE_MEAN = (2 * 20 + 6 * 60) / 8


def protect(rng, units=2000, **options):
    many = rng.random(units) < 1 / 3
    people = np.repeat(np.arange(units), np.where(many, 6, 1))
    frequent = many[people]
    rows = {
        "id": people,
        "ward": np.where(people % 2, "A", "B"),
        "x": np.clip(rng.normal(np.where(frequent, 60, 20), 10), 0, 100),
    }
    limits = {"max_groups_per_unit": 1, "max_rows_per_unit_per_group": 2, **options}
    return dp.protect(
        pa.table(rows),
        name="v",
        unit="id",
        bounds={"x": (0, 100)},
        step={"x": 1},
        keys={"ward": ["A", "B"]},
        epsilon=1000,
        **limits,
    )


def test_the_mean_over_all_rows_is_covered_and_that_of_counted_rows_is_another(size, figure):
    releases = size(small=8, full=400, what="releases with measured limits")
    rng = np.random.default_rng(7)
    missed, narrow = [], []
    for _ in range(releases):
        visits = protect(rng)
        limits = visits.limits(epsilon=2, max_rows=8)
        release = visits.sql(ALL, epsilon=1)
        (counted,), (whole,) = release.population(), release.population(limits=limits)
        narrow.append(not counted.low <= TRUE_MEAN <= counted.high)
        missed.append(not whole.low <= TRUE_MEAN <= whole.high)
        assert whole.low < counted.low < counted.high < whole.high
    assert few_errors(figure, missed, narrow)
    assert np.mean(narrow) > 0.95


def test_the_target_says_what_counts():
    visits = protect(np.random.default_rng(2))
    limits = visits.limits(epsilon=5, max_rows=8)
    (estimate,) = visits.sql(ALL, epsilon=5).population(limits=limits)
    assert estimate.target == (
        "the population, of which the ids are independent draws; values are cut as declared, "
        "and one id counts with up to 8 rows, the caps of session.limits"
    )
    assert "leave out at most 5" in estimate.notes[-1]  # truly 4 of 8 rows in a third: 50 %
    assert estimate.confidence == 0.95


def test_of_one_group_no_more_is_left_out_than_of_all():
    visits = protect(np.random.default_rng(3))
    limits = visits.limits(by="ward", epsilon=50, max_rows=8, max_groups=2)
    release = visits.sql(WARDS, epsilon=50)
    means = read(release, "m", None)
    for place in (0, 1):
        share = left_out(means.at(place), release, limits, LEVEL)
        # For each person 4/3 rows are left out, and 2/3 count in each ward.
        assert 2 / 3 < share < 0.85
    both = release.population(limits=limits)
    assert both["A"].low < TRUE_MEAN < both["A"].high
    assert "up to 8 rows in 2 groups" in both["A"].target


def test_limits_that_leave_nothing_out_change_little():
    rng = np.random.default_rng(4)
    visits = protect(rng, units=20_000, max_rows_per_unit_per_group=8)
    release = visits.sql(ALL, epsilon=20)
    (counted,) = release.population()
    (whole,) = release.population(limits=visits.limits(epsilon=20, max_rows=8))
    assert whole.margin < 1.3 * counted.margin


def test_limits_of_something_else_are_refused():
    visits = protect(np.random.default_rng(5), units=300)
    limits = visits.limits(epsilon=1, max_rows=8)
    release = visits.sql(WARDS, epsilon=1)
    with pytest.raises(InvalidParameter, match="of questions by no group"):
        release.population(limits=limits)
    with pytest.raises(InvalidParameter, match=r"what session\.limits"):
        release.population(limits=0.5)
    loose = protect(np.random.default_rng(5), units=300, max_rows_per_unit_per_group=9)
    with pytest.raises(InvalidParameter, match="caps of these limits are below"):
        loose.sql(ALL, epsilon=1).population(limits=limits)
    counts = visits.sql("SELECT COUNT(*) AS n FROM v", epsilon=1)
    with pytest.raises(InvalidParameter, match="n is neither"):
        counts.population(fraction=0.5, limits=limits)


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT id, x FROM v UNION ALL SELECT id, x FROM v)",
        "v JOIN codes ON v.ward = codes.ward",
    ],
)
def test_rows_that_are_repeated_or_of_another_unit_are_refused(source):
    """Of a unit with six rows, a union has twelve: ten are left out, and four were measured."""
    people = np.repeat(np.arange(60), 4)
    rows = {"id": people, "home": people // 2, "ward": ["A", "B"] * 120, "x": people % 50}
    codes = pa.table({"ward": ["A", "A", "B"], "code": [1, 2, 3]})
    shape = {"columns": {"x": Column("x", bounds=(0, 100), step=1)}}
    limits = {"max_groups_per_unit": 1, "max_rows_per_unit_per_group": 2}

    def open_with(unit):
        table = Table("v", pa.table(rows), unit=unit, **shape, **limits)
        public = Table("codes", codes, public=True)
        return connect(Policy([table, public], epsilon=1000), Session)

    visits = open_with("id")
    measured = visits.limits("v", epsilon=1, max_rows=8)
    repeated = visits.sql(f"SELECT COUNT(x) AS n, AVG(x) AS m FROM {source}", epsilon=1)
    with pytest.raises(InvalidParameter, match="joins or repeats rows"):
        repeated.population(limits=measured)
    other = open_with("home").sql(ALL, epsilon=1)
    with pytest.raises(InvalidParameter, match="rows of one id"):
        other.population(limits=measured)
    plain = visits.sql(f"{ALL} WHERE x < 40 FOR POPULATION", epsilon=1)
    assert len(plain.population(limits=measured)) == 1
