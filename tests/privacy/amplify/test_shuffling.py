"""Amplification by shuffling: published and computed numbers, and their order."""

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from deniable.errors import InvalidParameter, Unsupported
from deniable.mechanisms import RandomizedResponse
from deniable.privacy import GaussianLoss, PureLoss, shuffled
from tests.privacy import exactly


@pytest.mark.parametrize(
    ("reports", "odds", "exact", "clones"),
    [
        (100, 3, 0.550066, 0.748613),
        (1000, math.e, 0.126614, 0.182412),
        (1000, 3, 0.142058, 0.209411),
    ],
)
def test_known_numbers(reports, odds, exact, clones):
    coins = RandomizedResponse(odds=odds)
    assert shuffled(coins, reports=reports).epsilon(1e-6) == pytest.approx(exact, abs=1e-6)
    any_ = shuffled(coins.loss, reports=reports)
    assert any_.epsilon(1e-6) == pytest.approx(clones, abs=1e-6)


@pytest.mark.parametrize(
    ("reports", "odds", "answers", "known"),
    [
        (1000, 3, 4, 0.135468),
        (1000, 3, 10, 0.093252),
        (10**4, 3, 4, 0.039354),
        (10**4, math.exp(2), 5, 0.097191),
    ],
)
def test_the_blanket_of_many_answers(reports, odds, answers, known):
    many = RandomizedResponse(odds=odds, categories=answers)
    assert shuffled(many, reports=reports).epsilon(1e-6) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize(
    ("reports", "epsilon0", "delta", "known"),
    [(10**4, 1, 1e-6, 0.214026), (10**5, 4, 1e-6, 0.534634), (10**6, 1, 1e-8, 0.026775)],
)
def test_the_closed_form(reports, epsilon0, delta, known):
    loss = shuffled(PureLoss(epsilon0), reports=reports)
    assert loss._closed_form(delta) == pytest.approx(known, abs=1e-6)
    assert loss.epsilon(delta) <= known


def test_the_order_of_the_bounds():
    for odds in (2, 3, 6):
        coins = RandomizedResponse(odds=odds)
        exact, clones = shuffled(coins, reports=400), shuffled(coins.loss, reports=400)
        assert exact.epsilon(1e-6) <= clones.epsilon(1e-6) <= coins.loss.epsilon()
        assert exact.epsilon(0) == coins.loss.epsilon()
        assert exact.delta(exact.epsilon(1e-6)) <= 1e-6


@pytest.mark.parametrize("reports", [2, 4, 6])
def test_small_shuffles_by_enumeration(reports):
    """Every combination of reports, for every number of others who truly say yes."""
    p = Fraction(3, 4)
    loss = shuffled(RandomizedResponse(odds=3), reports=reports)

    def law(truths):
        chances = [Fraction(0)] * (reports + 1)
        for said in product((0, 1), repeat=reports):
            chance = Fraction(1)
            for truth, answer in zip(truths, said, strict=True):
                chance *= p if truth == answer else 1 - p
            chances[sum(said)] += chance
        return chances

    for epsilon in (0.1, 0.5, 0.9):
        worst = Fraction(0)
        for true in range(reports):
            others = [1] * true + [0] * (reports - 1 - true)
            pair = law([1, *others]), law([0, *others])
            for direction in (pair, pair[::-1]):
                low, _ = exactly.delta(*exactly.composed([direction]), epsilon)
                worst = max(worst, low)
        assert worst <= loss.delta(epsilon) <= float(worst) * (1 + 1e-6) + 1e-12


def test_lopsided_channels_count_as_any_randomizer():
    lopsided = RandomizedResponse.channel(0.75, 0.5)
    assert shuffled(lopsided, reports=500) == shuffled(lopsided.loss, reports=500)


def test_what_cannot_be_shuffled_is_refused():
    with pytest.raises(InvalidParameter, match="pure loss"):
        shuffled(GaussianLoss(1), reports=100)
    with pytest.raises(InvalidParameter, match="pure loss"):
        shuffled("coins", reports=100)
    with pytest.raises(InvalidParameter, match="reports"):
        shuffled(PureLoss(1), reports=1)
    with pytest.raises(Unsupported, match=r"no group\(2\)"):
        shuffled(PureLoss(1), reports=100).group(2)


def _histograms(inputs, design):
    law = {(0,) * design.categories: Fraction(1)}
    for true in inputs:
        following = {}
        for seen, chance in law.items():
            for said in range(design.categories):
                key = tuple(n + (i == said) for i, n in enumerate(seen))
                part = chance * (design.p if said == true else design.q)
                following[key] = following.get(key, Fraction(0)) + part
        law = following
    return law


@pytest.mark.parametrize("odds", [Fraction(3, 2), 3, 10])
@pytest.mark.parametrize(("answers", "reports"), [(3, 2), (3, 5), (4, 3), (4, 4)])
def test_no_others_make_many_answers_tell_more(odds, answers, reports):
    design = RandomizedResponse(odds=odds, categories=answers)
    claimed = shuffled(design, reports=reports)
    for others in combinations_with_replacement(range(answers), reports - 1):
        first, second = (_histograms((own, *others), design) for own in (0, 1))
        for epsilon in (0, 0.3, 0.7, 1.5):
            odds_at = Fraction(math.exp(epsilon)) * (1 + Fraction(1, 2**50))
            excess = (max(first[seen] - odds_at * second[seen], 0) for seen in first)
            assert sum(excess) <= claimed.delta(epsilon)
