"""Every outcome is found, with its exact probability."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from deniable.audit.prove.comparable_outputs import Raised, freeze
from deniable.audit.prove.program_outcomes import (
    Limits,
    check_signature,
    enumerate_outcomes,
)
from deniable.audit.prove.replay import Probabilities
from deniable.errors import InvalidParameter

HALF = Fraction(1, 2)


def run(program, data=0, **limits):
    return enumerate_outcomes(
        program, data, numbers=Probabilities(), limits=Limits(**limits), extra={}
    )


def test_sums_of_coins_are_binomial():
    outcomes = run(lambda x, flip: sum(flip(Fraction(1, 3)) for _ in range(5)))
    expected = {k: comb(5, k) * Fraction(2 ** (5 - k), 3**5) for k in range(6)}
    assert outcomes.table == expected
    assert outcomes.unresolved == 0


def test_uniform_and_choose():
    outcomes = run(lambda x, uniform: uniform(3) + uniform(3))
    assert outcomes.table == {k: Fraction(n, 9) for k, n in enumerate([1, 2, 3, 2, 1])}
    assert run(lambda x, choose: choose([1, 0, 2])).table == {
        0: Fraction(1, 3),
        2: 1 - Fraction(1, 3),
    }
    assert run(lambda x, choose: choose({"a": 3, "b": 1})).table["b"] == Fraction(1, 4)


def test_draws_may_depend_on_draws():
    def program(x, flip, uniform):
        return uniform(2 + flip())

    assert run(program).table == {0: Fraction(5, 12), 1: Fraction(5, 12), 2: Fraction(1, 6)}


def test_a_float_is_the_decimal_it_prints_as():
    assert run(lambda x, flip: flip(0.1)).table[1] == Fraction(1, 10)


def test_an_endless_loop_is_cut_and_the_rest_is_known():
    def geometric(x, flip):
        n = 0
        while flip(HALF):
            n += 1
        return n

    outcomes = run(geometric, draws=10)
    assert outcomes.table == {n: HALF ** (n + 1) for n in range(10)}
    assert outcomes.unresolved == HALF**10
    few = run(geometric, runs=3)
    assert sum(few.table.values()) + few.unresolved == 1
    assert len(few.table) <= 3
    assert run(lambda x, flip: max(iter(lambda: flip(1), 0)), draws=9).unresolved == 1


def test_a_failure_is_an_output():
    def program(x, flip):
        return 1 // flip(Fraction(1, 4))

    table = run(program).table
    assert table.pop(1) == Fraction(1, 4)
    ((failure, chance),) = table.items()
    assert isinstance(failure, Raised)
    assert failure.error == "ZeroDivisionError"
    assert chance == Fraction(3, 4)


def test_what_a_failure_says_is_told_too():
    def program(x, flip):
        flip()
        raise ValueError(f"no such ward: {x}")

    assert run(program).table.keys() == {Raised("ValueError", "no such ward: 0")}


def test_a_run_that_catches_its_own_end_stays_unresolved():
    def program(x, flip):
        try:
            while flip(HALF):
                pass
        except BaseException:
            return "caught"
        return "done"

    outcomes = run(program, draws=4)
    assert outcomes.table == {"done": 1 - HALF**4}
    assert outcomes.unresolved == HALF**4


def test_a_slip_is_not():
    with pytest.raises(NameError):
        run(lambda x, flip: undefined)  # noqa: F821


def test_a_program_with_state_of_its_own_is_refused():
    calls = []

    def program(x, flip, uniform):
        calls.append(1)
        return (flip(HALF), flip(HALF)) if len(calls) % 2 else (uniform(3), flip(HALF))

    with pytest.raises(InvalidParameter, match="is not repeatable"):
        run(program)


def test_a_program_cannot_spoil_its_input():
    def program(x, flip):
        x.append(flip(HALF))
        return sum(x)

    assert run(program, data=[1]).table == {1: HALF, 2: HALF}


@pytest.mark.parametrize("bad", [-1, 2, "x", float("nan")])
def test_bad_probabilities_are_refused(bad):
    with pytest.raises(InvalidParameter):
        run(lambda x, flip: flip(bad))


@pytest.mark.parametrize("bad", [[], [0, 0], [1, -1]])
def test_bad_weights_are_refused(bad):
    with pytest.raises(InvalidParameter):
        run(lambda x, choose: choose(bad))


def test_arguments_are_handed_over_by_name():
    check_signature(lambda x, choose, flip, k=3: 0, [])
    check_signature(lambda x, flip, p: 0, ["p"])
    with pytest.raises(InvalidParameter, match="`coin`"):
        check_signature(lambda x, coin: 0, [])
    with pytest.raises(InvalidParameter, match="no data"):
        check_signature(lambda: 0, [])


def test_outputs_can_be_counted_whatever_they_are():
    assert freeze(np.array([[1, 2]])) == ((1, 2),)
    assert freeze({"b": 1, "a": {2}}) == (("a", frozenset({2})), ("b", 1))
    assert freeze(float("nan")) == freeze(float("nan"))
    assert freeze(np.int64(3)) == 3


@pytest.mark.parametrize("draws", [0, 1, 3])
def test_randomness_of_its_own_is_noticed(draws):
    generator = np.random.default_rng()

    def program(x, flip):
        return sum(flip() for _ in range(draws)) + int(generator.integers(1 << 40))

    with pytest.raises(InvalidParameter, match="is not repeatable"):
        run(program)


def test_a_program_with_more_coins_the_second_time_is_noticed():
    calls = []

    def program(x, flip):
        calls.append(x)
        return 0 * sum(flip() for _ in range(len(calls)))

    with pytest.raises(InvalidParameter, match="is not repeatable"):
        run(program, runs=1)
