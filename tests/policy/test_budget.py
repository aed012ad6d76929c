import datetime
from fractions import Fraction

import pytest

from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget, Schedule

START = datetime.date(2026, 1, 1)


def schedule(**changes):
    return Schedule(**{"start": START, "every": 7, "epsilon": 0.1, "times": 3} | changes)


def test_a_budget_grows_on_its_days_and_stops():
    budget = Budget(1, 1e-6, schedule=schedule(delta=1e-7))
    assert budget.days == tuple(datetime.date(2026, 1, day) for day in (8, 15, 22))
    days = [START - datetime.timedelta(400), START, *budget.days, datetime.date(2099, 1, 1)]
    tenths = [budget.at(day).epsilon * 10 for day in days]
    assert tenths == [10, 10, 11, 12, 13, 13]
    assert budget.at(None) == Budget(Fraction(13, 10), Fraction(13, 10**7))
    assert Budget(1).at(None) == Budget(1)
    assert Budget(1).days == ()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"every": 0}, "every"),
        ({"times": 0}, "times"),
        ({"times": 10_001, "every": 1}, "times"),
        ({"times": 10**4000}, "times"),
        ({"times": 2, "every": 10**7}, "every"),  # after the last year of the calendar
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"start": "2026-01-01"}, "start"),
        ({"start": datetime.datetime(2026, 1, 1)}, "start"),
    ],
)
def test_schedules_that_are_none(changes, key):
    with pytest.raises(InvalidPolicy) as caught:
        schedule(**changes)
    assert caught.value.where == (key,)


def test_delta_cannot_grow_to_one():
    with pytest.raises(InvalidPolicy, match="gives no privacy"):
        Budget(1, 0.5, schedule=schedule(delta=0.2))


@pytest.mark.parametrize("filters", [[], ["zcdp"], ["pure", "pure"], ["pure", "renyi"]])
def test_filters_that_are_none(filters):
    with pytest.raises(InvalidPolicy, match="`filters` must be"):
        Policy([Table("data")], epsilon=1, delta=1e-6, filters=filters)


def test_filters_are_paid_for_with_delta():
    for change in (
        {"delta": 0},
        {"analysts": {"ann": Budget(1)}},
        {"units": {"u": Budget(1)}},
        {"tables": [Table("data", unit="u", budget=Budget(1))]},
    ):
        declared = {"tables": [Table("data", unit="u")], "epsilon": 1, "delta": 1e-6} | change
        with pytest.raises(InvalidPolicy, match="need a `delta`"):
            Policy(**declared, filters=["gdp", "pure"])


def test_a_unit_that_no_table_has():
    with pytest.raises(InvalidPolicy, match="No table has the unit"):
        Policy([Table("data", unit="u")], epsilon=1, units={"v": Budget(1)})


def test_versions_name_every_table():
    tables = [Table("b", version="2"), Table("a")]
    assert Policy(tables, epsilon=1).version(("b", "a")) == "a=;b=2"


@pytest.mark.parametrize("epsilon", [5e-324, Fraction(1, 10**400), Fraction(10**5000)])
def test_amounts_beyond_all_doubles_are_refused(epsilon):
    with pytest.raises(
        InvalidPolicy, match="out of any useful range: write a number between"
    ) as error:
        Budget(epsilon)
    assert error.value.where == ("epsilon",)
