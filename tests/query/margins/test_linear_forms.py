from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deniable.query.margins.evaluation import evaluate
from deniable.query.margins.linear_forms import LinearForm, RatioForm, form
from deniable.query.plan.plan import (
    Feature,
    KeyColumn,
    Number,
    Operation,
)

A, B, C = (Feature(name, 0) for name in "abc")


def number(x):
    return Number(Fraction(x))


def test_sums_are_linear_with_exact_weights():
    node = Operation("-", (Operation("*", (number("1/3"), A)), Operation("/", (B, number(4)))))
    assert form(node) == LinearForm(
        Fraction(0), (("a", Fraction(1, 3)), ("b", Fraction(-1, 4)))
    )
    assert form(Operation("-", (A, A))) == LinearForm(Fraction(0), ())
    assert (
        form(Operation("negative", (A,)))
        == form(Operation("-", (A,)))
        == form(A).scaled(Fraction(-1))
    )
    assert form(A).whole
    assert not form(node).whole


def test_averages_are_ratios_through_shifts_and_scales():
    mean = Operation("/", (A, B))
    moved = form(Operation("+", (number(3), Operation("*", (number(2), mean)))))
    assert moved == RatioForm(
        form(Operation("+", (Operation("*", (number(2), A)), Operation("*", (number(3), B))))),
        form(B),
    )
    assert form(Operation("-", (mean, Operation("/", (C, B))))) == RatioForm(
        form(Operation("-", (A, C))), form(B)
    )
    assert form(Operation("*", (mean, B))) == form(Operation("*", (B, mean))) == form(A)
    assert form(Operation("/", (mean, Operation("/", (C, B))))) == RatioForm(form(A), form(C))
    assert form(Operation("/", (Operation("*", (A, number(2))), A))) == LinearForm(
        Fraction(2), ()
    )


def test_what_is_neither():
    mean = Operation("/", (A, B))
    for node in (
        Operation("*", (A, B)),
        Operation("*", (mean, mean)),
        Operation("+", (mean, A)),
        Operation("+", (mean, Operation("/", (A, C)))),
        Operation("sqrt", (A,)),
        Operation("/", (A, number(0))),
        Operation("+", (A, Operation("sqrt", (B,)))),
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
        lambda parts: Operation(parts[0], parts[1:])
    ),
    max_leaves=8,
)


@given(trees, st.tuples(*[st.floats(0.5, 40) for _ in range(3)]))
def test_a_form_is_worth_what_its_node_is(node, at):
    actual = form(node)
    if actual is None:
        return
    features = {name: np.array([x]) for name, x in zip("abc", at, strict=True)}

    def worth(linear):
        return float(linear.constant) + sum(
            float(w) * features[name][0] for name, w in linear.weights
        )

    value = float(np.atleast_1d(evaluate(node, features))[0])
    if isinstance(actual, LinearForm):
        expected = worth(actual)
    else:
        below = worth(actual.below)
        if abs(below) < 1e-6:
            return
        expected = worth(actual.above) / below
    if np.isfinite(value):
        assert np.isclose(value, expected, rtol=1e-6, atol=1e-6)
