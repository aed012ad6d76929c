from fractions import Fraction

import numpy as np
import pytest

from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.interval_arithmetic import combine
from deniable.query.plan.plan import Feature, Number, Operation

A, B = Feature("a", 0), Feature("b", 0)
CALLS = [
    *(Operation(name, (A, B)) for name in ("+", "-", "*", "/", "least", "greatest", "<", ">=")),
    *(Operation(name, (A,)) for name in ("negative", "abs", "sqrt", "floor", "ceil", "round")),
    *(Operation("power", (A, Number(Fraction(k)))) for k in (2, 3, -1)),
    Operation("clamp", (A, Number(Fraction(-1)), Number(Fraction(1)))),
    Operation("least", (Operation("*", (A, B)), Operation("abs", (B,)))),
]


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_no_value_lies_outside(call):
    source = np.random.default_rng(7)
    for low_a, low_b in ((-3.0, -2.0), (1.0, 0.5), (-9.0, -8.0)):
        parts = {
            A: (np.array([low_a]), np.array([low_a + 4])),
            B: (np.array([low_b]), np.array([low_b + 3])),
        }
        points = {"a": low_a + 4 * source.random(2000), "b": low_b + 3 * source.random(2000)}
        values = np.asarray(evaluate(call, points), dtype=np.float64)
        low, high = combine(call, parts, {}, ())
        known = ~np.isnan(values)
        assert (values[known] >= low[0] - 1e-9).all()
        assert (values[known] <= high[0] + 1e-9).all()


def test_what_has_no_rule_may_be_anything():
    equal = Operation("=", (A, B))
    parts = {A: (np.zeros(1), np.ones(1)), B: (np.zeros(1), np.ones(1))}
    low, high = combine(equal, parts, {}, ())
    assert np.isinf([*low, *high]).all()


def test_a_value_that_may_be_null_may_be_the_other():
    count = Operation("nullif", (Feature("n", 0), Number(Fraction(0))))
    node = Operation("coalesce", (count, Number(Fraction(100))))
    parts = {count: (np.array([-1.0]), np.array([5.0]))}
    assert [end.tolist() for end in combine(node, parts, {}, ())] == [[-1.0], [100.0]]


def test_the_work_does_not_double_with_each_constant():
    constants = tuple(Number(Fraction(100 + i)) for i in range(40))
    node = Operation("least", (Feature("n", 0), *constants))
    parts = {Feature("n", 0): (np.array([-1.0]), np.array([500.0]))}
    assert [end.tolist() for end in combine(node, parts, {}, ())] == [[-1.0], [100.0]]
