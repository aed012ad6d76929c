"""What is remembered of the kernel's verdicts: equal plans' only, and nothing at full size."""

from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from inspect import isabstract
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

import pyarrow as pa
import pytest

import deniable as dp
from deniable.kernel.facts import Facts, TableFacts
from deniable.query.plan.canonical import KINDS
from deniable.query.plan.plan import Plan
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


PLAIN = {str, int, float, bool, NoneType, Fraction}  # types whose text says all of a value


def reach(hint, classes, leaves):
    """Collects the dataclasses and the other types that an annotation leads to."""
    if get_origin(hint) is Literal:
        leaves.update(map(type, get_args(hint)))
    elif get_args(hint):
        for argument in get_args(hint):
            reach(argument, classes, leaves)
    elif not is_dataclass(hint):
        leaves.add(hint)
    elif hint not in classes:
        classes.add(hint)
        for inner in get_type_hints(hint).values():
            reach(inner, classes, leaves)
        for kind in hint.__subclasses__():
            reach(kind, classes, leaves)


def hidden_fields(kind):
    """The fields of a dataclass that the text of a value does not name."""
    value, texts = object.__new__(kind), {}
    for place, own in enumerate(fields(kind)):
        object.__setattr__(value, own.name, f"value {place}.")
        texts[own.name] = f"{own.name}='value {place}.'"
    return [name for name, text in texts.items() if text not in repr(value)]


def test_the_text_of_a_plan_names_every_field():
    """Otherwise two plans that differ could have one verdict."""
    classes, leaves = set(), set()
    for kind in (Plan, Facts):
        reach(kind, classes, leaves)
    assert {Facts, TableFacts, *KINDS} <= classes
    assert leaves - {Ellipsis} <= PLAIN
    hidden = {kind: hidden_fields(kind) for kind in classes if not isabstract(kind)}
    assert not any(hidden.values()), hidden


def test_a_field_that_a_text_hides_is_seen():
    @dataclass
    class Hidden:
        shown: int
        hidden: int = field(repr=False)

    @dataclass
    class Silent:
        hidden: int

        def __repr__(self):
            return "Silent"

    @dataclass(repr=False)
    class Heir(Silent):
        pass

    assert hidden_fields(Hidden) == hidden_fields(Silent) == hidden_fields(Heir) == ["hidden"]


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
