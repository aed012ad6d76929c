"""What is remembered of the kernel's verdicts: equal plans' only, and nothing at full size."""

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.release.certificate import kernel_check
from tools.kernel_verdicts import remember

QUESTIONS = (
    "SELECT city, COUNT(*) AS n, SUM(cost) AS s FROM data GROUP BY city ORDER BY n LIMIT 3",
    "SELECT MEDIAN(cost) AS m, COUNT(DISTINCT who) AS people FROM data",
)
SUITE = """
import deniable.release
from deniable.release.certificate import kernel_check
from deniable.kernel.verdict import check_plan

def test_check():
    assert (kernel_check.check_plan is check_plan) == FULL
"""


@pytest.fixture(scope="module")
def plans():
    rows = pa.table({"who": [1, 2], "city": ["a", "b"], "cost": [1.0, 2.0]})
    bounds = {"bounds": {"cost": (0, 9)}, "step": {"cost": 1}, "unit": "who"}
    limits = {"max_groups_per_unit": 2, "max_rows_per_unit_per_group": 2}
    with dp.protect(rows, epsilon=1, delta=1e-6, **bounds, **limits) as data:
        yield [data.plan(text, epsilon=1, delta=1e-6) for text in QUESTIONS]


def parts_of(value):
    """A value and all dataclasses and tuples in it."""
    if is_dataclass(value):
        yield value
        for field in fields(value):
            yield from parts_of(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from parts_of(each)


def test_the_text_of_a_plan_names_every_field(plans):
    """Otherwise two plans that differ could have one verdict."""
    kinds = {type(part) for plan in plans for part in parts_of(plan)}
    assert len(kinds) > 10
    for kind in kinds:
        assert kind.__dataclass_params__.repr, kind
        assert all(field.repr for field in fields(kind)), kind


def test_a_plan_that_differs_in_one_number_is_checked_again(plans):
    checked = []
    check = remember(lambda plan, facts, **options: checked.append((plan, facts, options)))
    for plan in plans:
        changes = [plan, replace(plan, epsilon=plan.epsilon + Fraction(1, 10**9))]
        changes += [replace(plan, epsilon=float(plan.epsilon)), replace(plan, engine_sql="x")]
        told = [(each, "facts", {}) for each in changes]
        told += [(plan, "other facts", {}), (plan, "facts", {"withheld": True})]
        for _ in range(2):
            for each, facts, options in told:
                check(each, facts, **options)
        assert checked == told
        checked.clear()


def test_a_refusal_is_derived_again():
    derived = []

    def refuse(plan, facts):
        derived.append(plan)
        raise dp.PlanRefused("no")

    check = remember(refuse)
    for _ in range(2):
        with pytest.raises(dp.PlanRefused):
            check("plan", "facts")
    assert len(derived) == 2


def test_the_kernel_itself_is_asked_as_always():
    from deniable.kernel import verdict

    assert verdict.check_plan.__module__ == "deniable.kernel.verdict"


@pytest.mark.parametrize(("options", "full"), [((), False), (("--full",), True)])
def test_at_full_size_nothing_is_remembered(pytester, monkeypatch, options, full):
    monkeypatch.delenv("DENIABLE_FULL", raising=False)
    monkeypatch.setattr(kernel_check, "check_plan", verdict_of_kernel())
    pytester.makeconftest('pytest_plugins = ["tools.kernel_verdicts", "tools.sizes"]')
    pytester.makepyfile(SUITE.replace("FULL", str(full)))
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=1)


def verdict_of_kernel():
    from deniable.kernel.verdict import check_plan

    return check_plan
