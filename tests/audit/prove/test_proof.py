"""Proofs come out as they do by hand."""

import math
from fractions import Fraction
from math import comb

import pytest

from deniable import ApproximateLoss, PureLoss, RandomizedResponse
from deniable.audit import Limits, prove
from deniable.errors import InvalidParameter

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def rand_resp(x, flip):
    return x if flip(HALF) else flip(HALF)


def test_two_coins_cost_exactly_ln_three():
    proof = prove(rand_resp, neighbors=[(0, 1)])
    assert proof.odds == 3
    assert isinstance(proof.odds, Fraction)
    assert proof.loss == PureLoss(odds=3) == RandomizedResponse.from_coins().loss
    assert proof.epsilon == pytest.approx(math.log(3), abs=1e-15)
    assert proof.table == {0: {0: 3 * QUARTER, 1: QUARTER}, 1: {0: QUARTER, 1: 3 * QUARTER}}
    assert (proof.worst.output, proof.worst.inputs) == (1, (1, 0))
    assert str(proof).startswith("epsilon = ln 3 = 1.0986")
    assert "worst at output 1, inputs 1 and 0" in str(proof)
    assert proof.delta(odds=3) == 0
    assert proof.delta(odds=1) == HALF
    assert 0 < proof.delta(math.log(2)) - QUARTER < 1e-15 or proof.delta(0) == HALF


def test_delta_at_an_epsilon_is_rounded_up():
    proof = prove(rand_resp, neighbors=[(0, 1)])
    exact = 0.75 - math.exp(0.5) * 0.25
    assert float(proof.delta(0.5)) == pytest.approx(exact, abs=1e-15)
    assert proof.delta(0.5) <= Fraction(PureLoss(odds=3).delta(0.5))


def majority(votes, flip):
    said = [vote if flip(Fraction(3, 4)) else 1 - vote for vote in votes]
    return int(sum(said) >= 2)


def test_majority_of_three_randomized_votes():
    proof = prove(majority, "replace", domain=[0, 1], size=3)
    # With two other noes, yes comes out with 22/64 if the third is yes and 10/64 if not.
    assert proof.odds == Fraction(11, 5)
    assert len(proof.table) == 8
    assert proof.table[1, 0, 0][1] == Fraction(22, 64)
    assert proof.odds < 3  # less than the votes themselves would give away


def test_the_relation_matters():
    def count(data, flip):
        return sum(x if flip(HALF) else flip(HALF) for x in data)

    removed = prove(count, "add-remove", domain=[0, 1], size=2)
    replaced = prove(count, "replace", domain=[0, 1], size=2)
    assert not removed.private  # nobody can say "2" for one person
    assert replaced.odds == 3


WEIGHTS = [HALF ** abs(k) for k in range(-3, 4)]


def noisy_count(data, choose):
    """Noise on -3..3 with P(k) proportional to 2**-|k|: odds 2, except at its ends."""
    return sum(data) + choose(WEIGHTS) - 3


def test_a_noisy_count_on_a_truncated_geometric():
    proof = prove(noisy_count, "add-remove", domain=[0, 1], size=3)
    ends = HALF**3 / sum(WEIGHTS)  # P(noise = 3): 1/22
    assert not proof.private
    assert len(proof.feasible(6)) == 1
    assert proof.feasible(6) == ((1, 1, 1),)
    assert proof.delta(odds=2) == ends == Fraction(1, 22)
    assert proof.delta(odds=4) == ends
    assert proof.delta(odds=1) == sum(
        max(0, a - b) for a, b in zip([*WEIGHTS, 0], [0, *WEIGHTS], strict=True)
    ) / sum(WEIGHTS)
    assert "against 0" in proof.event
    with pytest.raises(InvalidParameter, match="No loss was proved"):
        _ = proof.loss


def test_a_program_that_tells_is_caught_with_its_event():
    proof = prove(lambda x, flip: x if flip(Fraction(1, 100)) else 0, neighbors=[(0, 1)])
    assert proof.odds == math.inf == proof.epsilon
    assert proof.worst.output == 1
    assert proof.event == "output 1, inputs 1 and 0: probability 1/100 against 0"
    assert str(proof).startswith("not private at any epsilon")
    assert proof.feasible(1) == (1,)
    assert proof.feasible(0) == (0, 1)
    assert proof.delta(odds=1) == Fraction(1, 100)


def test_what_an_attacker_concludes():
    proof = prove(rand_resp, neighbors=[(0, 1)])
    assert proof.posterior()[1] == {0: QUARTER, 1: 3 * QUARTER}
    after = proof.posterior({0: 0.9, 1: 0.1})
    assert after[1][1] == QUARTER
    assert after[0][1] == Fraction(1, 28)
    with pytest.raises(InvalidParameter, match="add up to 1"):
        proof.posterior({0: 0.5})
    with pytest.raises(InvalidParameter):
        proof.posterior({0: 0.5, 1: 0.5, 7: 0})


def redraw(x, uniform):
    """Asks until the die fits: a loop that may not end."""
    while True:
        drawn = uniform(4)
        if drawn + x < 4:
            return drawn + x


def modular(x, flip):
    n = 0
    while flip(HALF):
        n += 1
    return (n + x) % 3


def test_what_is_left_of_a_loop_goes_to_delta():
    proof = prove(modular, neighbors=[(0, 1)], limits=Limits(draws=30))
    assert proof.unresolved == HALF**30
    assert 0 < proof.delta(odds=proof.odds) <= HALF**30
    assert float(proof.odds) == pytest.approx(4, rel=1e-6)
    assert isinstance(proof.loss, ApproximateLoss)
    assert "cut off" in str(proof)
    # P(n mod 3 = k) is 4/7, 2/7 and 1/7.
    assert float(proof.table[0][0]) == pytest.approx(4 / 7, rel=1e-6)


def test_a_loop_that_hides_nothing_is_caught_all_the_same():
    proof = prove(redraw, neighbors=[(0, 1)], limits=Limits(draws=20))
    assert not proof.private
    assert proof.worst.output == 0


def test_the_end_of_a_cut_law_is_no_giveaway():
    def walk(x, flip):
        n = x
        while flip(HALF):
            n += 1 - 2 * flip(HALF)
        return n

    proof = prove(walk, neighbors=[(0, 1)], limits=Limits(draws=16))
    assert proof.private
    exact = 1 / (3 - 2 * math.sqrt(2))  # two-sided, falling by 3 - 2 sqrt 2 at each step
    assert float(proof.odds) == pytest.approx(exact, rel=0.35)
    wider = prove(walk, neighbors=[(0, 1)], limits=Limits(draws=20))
    assert wider.delta(odds=6) < proof.delta(odds=6)


def test_a_vote_among_five():
    def votes(data, flip):
        return sum(x if flip(HALF) else flip(HALF) for x in data)

    proof = prove(votes, [((1, 0, 0, 0, 0), (0, 0, 0, 0, 0))])
    top = sum(
        comb(4, k) * QUARTER**k * (3 * QUARTER) ** (4 - k) * p for k, p in ((4, 3 * QUARTER),)
    )
    assert proof.table[1, 0, 0, 0, 0][5] == top
    assert proof.odds == 3


def test_both_or_neither_is_refused():
    proof = prove(rand_resp, neighbors=[(0, 1)])
    with pytest.raises(InvalidParameter):
        proof.delta()
    with pytest.raises(InvalidParameter):
        proof.delta(1, odds=3)


def test_what_is_no_program_or_no_pair_is_refused():
    with pytest.raises(InvalidParameter, match="must be a function"):
        prove(5, [(0, 1)])
    with pytest.raises(InvalidParameter, match="must hold pairs"):
        prove(rand_resp, [0, 1])
