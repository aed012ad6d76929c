"""The impossible: proved for every method, by enumeration, and named with what can."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from deniable.errors import InvalidParameter
from deniable.mechanisms import Laplace
from deniable.price.feasibility import most_changes, proportion

F = Fraction


def test_the_known_case():
    answer = proportion(margin=0.01, n=400, epsilon=0.1)
    assert answer.verdict == "impossible"
    assert answer.changes == 9
    assert answer.limit == pytest.approx(math.exp(0.9) / (1 + math.exp(0.9)))
    assert (answer.least_n, answer.enough_n) == (1450, 3000)
    told = str(answer)
    assert "impossible" in told
    assert "3000 records" in told


@pytest.mark.parametrize(("margin", "n"), [(F(1, 10), 10), (F(1, 100), 400), (F(1, 3), 7)])
def test_what_it_names_is_just_enough(margin, n):
    level, epsilon = F(19, 20), F(1, 5)
    answer = proportion(margin=margin, n=n, epsilon=epsilon, confidence=level)
    at_least = proportion(margin=margin, n=answer.least_n, epsilon=epsilon, confidence=level)
    assert at_least.verdict != "impossible"
    if answer.least_n > 1:
        fewer = proportion(
            margin=margin, n=answer.least_n - 1, epsilon=epsilon, confidence=level
        )
        assert fewer.verdict == "impossible"
    enough = proportion(margin=margin, n=answer.enough_n, epsilon=epsilon, confidence=level)
    assert enough.verdict == "possible"
    richer = proportion(
        margin=margin, n=n, epsilon=answer.enough_epsilon * 1.000001, confidence=level
    )
    assert richer.verdict == "possible"
    if answer.least_epsilon:
        poorer = proportion(
            margin=margin, n=n, epsilon=answer.least_epsilon * 0.999999, confidence=level
        )
        assert poorer.verdict == "impossible"


@pytest.mark.parametrize("n", [4, 7, 10])
@pytest.mark.parametrize("margin", [F(1, 10), F(1, 5)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_no_private_method_whatever_passes_the_limit(n, margin, epsilon):
    """The highest confidence of all methods, by linear programming over their outputs.

    Only counts matter; an answer matters only through which counts it is right for.
    """
    answers = sorted(
        {
            tuple(abs(F(s, n) - F(t, 2 * n)) <= margin for s in range(n + 1))
            for t in range(2 * n)
        }
        - {(False,) * (n + 1)}
    )
    m = len(answers)
    cost = np.zeros((n + 1) * m + 1)
    cost[-1] = -1
    equal = np.zeros((n + 1, cost.size))
    below = []
    for s in range(n + 1):
        equal[s, s * m : (s + 1) * m] = 1
        line = np.zeros(cost.size)
        line[s * m : (s + 1) * m] = [-float(right[s]) for right in answers]
        line[-1] = 1
        below.append(line)
    for s in range(n):
        for first, second in ((s, s + 1), (s + 1, s)):
            for i in range(m):
                line = np.zeros(cost.size)
                line[first * m + i], line[second * m + i] = 1, -math.exp(epsilon)
                below.append(line)
    solution = linprog(
        cost, A_ub=below, b_ub=np.zeros(len(below)), A_eq=equal, b_eq=np.ones(n + 1)
    )
    limit = proportion(margin=margin, n=n, epsilon=epsilon).limit
    assert -solution.fun <= limit + 1e-9


@given(st.fractions(F(1, 200), F(49, 100)), st.integers(1, 300), st.floats(0.01, 3))
def test_laplace_noise_never_passes_the_limit(margin, n, epsilon):
    answer = proportion(margin=margin, n=n, epsilon=epsilon)
    assert answer.reached <= answer.limit + 1e-12
    noise = Laplace(epsilon=epsilon).noise().outside(math.floor(margin * n), 100)[0] / 2**100
    assert answer.reached == pytest.approx(1 - noise, abs=1e-12)


def test_changes_are_the_fewest_that_leave_two_margins():
    for n in range(1, 40):
        for margin in (F(1, 100), F(1, 10), F(1, 4)):
            k = most_changes(margin, n)
            assert F(k, n) > 2 * margin >= F(k - 1, n)


def test_add_remove_rules_out_less():
    plan = {"margin": 0.01, "n": 400, "epsilon": 0.1}
    first, second = proportion(**plan), proportion(neighbors="add-remove", **plan)
    assert second.limit > first.limit
    assert second.least_n < first.least_n


def test_margins_of_one_half_ask_for_nothing():
    assert proportion(margin=0.5, n=3, epsilon=0.01).limit == 1


def test_open_and_possible_say_so():
    assert str(proportion(margin=0.01, n=2500, epsilon=0.1)).startswith("open")
    sure = str(proportion(margin=0.01, n=25_000, epsilon=0.1))
    assert sure.startswith("possible")
    assert "100 %" not in sure


@pytest.mark.parametrize(
    "change", [{"margin": 0}, {"confidence": 1}, {"epsilon": 0}, {"n": 0}], ids=str
)
def test_bad_questions_are_refused_by_name(change):
    with pytest.raises(InvalidParameter, match=next(iter(change))):
        proportion(**{"margin": 0.01, "n": 400, "epsilon": 0.1, **change})
