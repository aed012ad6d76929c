from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.forms import Linear, Ratio, form
from deniable.query.plan.plan import (
    Call,
    Feature,
    KeyColumn,
    Number,
)

A, B, C = (Feature(name, 0) for name in "abc")


def number(x):
    return Number(Fraction(x))


def test_sums_are_linear_with_exact_weights():
    node = Call("-", (Call("*", (number("1/3"), A)), Call("/", (B, number(4)))))
    assert form(node) == Linear(Fraction(0), (("a", Fraction(1, 3)), ("b", Fraction(-1, 4))))
    assert form(Call("-", (A, A))) == Linear(Fraction(0), ())
    assert form(Call("negative", (A,))) == form(Call("-", (A,))) == form(A).scaled(Fraction(-1))
    assert form(A).whole
    assert not form(node).whole


def test_averages_are_ratios_through_shifts_and_scales():
    mean = Call("/", (A, B))
    moved = form(Call("+", (number(3), Call("*", (number(2), mean)))))
    assert moved == Ratio(
        form(Call("+", (Call("*", (number(2), A)), Call("*", (number(3), B))))), form(B)
    )
    assert form(Call("-", (mean, Call("/", (C, B))))) == Ratio(form(Call("-", (A, C))), form(B))
    assert form(Call("*", (mean, B))) == form(Call("*", (B, mean))) == form(A)
    assert form(Call("/", (mean, Call("/", (C, B))))) == Ratio(form(A), form(C))
    assert form(Call("/", (Call("*", (A, number(2))), A))) == Linear(Fraction(2), ())


def test_what_is_neither():
    mean = Call("/", (A, B))
    for node in (
        Call("*", (A, B)),
        Call("*", (mean, mean)),
        Call("+", (mean, A)),
        Call("+", (mean, Call("/", (A, C)))),
        Call("sqrt", (A,)),
        Call("/", (A, number(0))),
        Call("+", (A, Call("sqrt", (B,)))),
        KeyColumn(0),
    ):
        assert form(node) is None


leaves = st.one_of(
    st.sampled_from([A, B, C]),
    st.fractions(-5, 5, max_denominator=6).map(Number),
)
trees = st.recursive(
    leaves,
    lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner).map(
        lambda one: Call(one[0], one[1:])
    ),
    max_leaves=8,
)


@given(trees, st.tuples(*[st.floats(0.5, 40) for _ in range(3)]))
def test_a_form_is_worth_what_its_node_is(node, at):
    found = form(node)
    if found is None:
        return
    features = {name: np.array([x]) for name, x in zip("abc", at, strict=True)}

    def worth(linear):
        return float(linear.constant) + sum(
            float(w) * features[name][0] for name, w in linear.weights
        )

    value = float(np.atleast_1d(evaluate(node, features))[0])
    if isinstance(found, Linear):
        expected = worth(found)
    else:
        below = worth(found.below)
        if abs(below) < 1e-6:
            return
        expected = worth(found.above) / below
    if np.isfinite(value):
        assert np.isclose(value, expected, rtol=1e-6, atol=1e-6)
