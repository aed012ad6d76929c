"""The law of repeated coins against exact binomial probabilities."""

import math
from fractions import Fraction

import pytest

from deniable.privacy import PureLoss
from deniable.privacy.arithmetic.dominating_pairs import (
    DiscretePair,
    LaplacePair,
    count_pairs,
    subsample,
)
from deniable.privacy.arithmetic.repeated_pairs import RepeatedPair, repeat_coins

RARE = Fraction(1, 1000)
COINS = {  # by the probability of the greater loss
    Fraction(3, 4): DiscretePair.of([0.75, 0.25], [0.25, 0.75]),
    RARE: DiscretePair.of([RARE, 1 - RARE], [RARE**2, 1 - RARE**2]),
    Fraction(1, 2): DiscretePair.of([0.5, 0.5], [0.49, 0.51]),
}


def binomial(share, times):
    """The probability of each number of greater losses, exactly."""
    return [
        math.comb(times, j) * share**j * (1 - share) ** (times - j) for j in range(times + 1)
    ]


@pytest.mark.parametrize("times", [2, 7, 400])
@pytest.mark.parametrize("share", COINS, ids=str)
def test_the_law_is_binomial_within_its_error(share, times):
    coin, exact = COINS[share], binomial(share, times)
    law = RepeatedPair(coin, times).law
    low, high = coin.losses
    first = round((law.losses[0] - times * low) / (high - low))
    last = first + law.losses.size
    assert law.error < 1e-8
    assert sum(exact[:first]) <= Fraction(law.raised)
    assert sum(exact[last:]) <= Fraction(law.infinite)
    assert max(law.raised, law.infinite) < 1e-30
    for j in range(first, last):
        weight = Fraction(float(law.weights[j - first])) - (law.raised if j == first else 0)
        assert abs(weight / exact[j] - 1) <= law.error
        assert law.losses[j - first] == pytest.approx(j * high + (times - j) * low, abs=1e-12)


def test_a_long_law_leaves_out_what_is_negligible():
    law = RepeatedPair(COINS[Fraction(1, 2)], 100_000).law
    assert law.losses.size < 10_000
    assert 0 < law.infinite < 1e-36
    assert 0 < law.raised < 1e-36


def test_only_coins_are_repeated():
    coin = subsample(PureLoss(1).dominating_pairs[0][0], Fraction(1, 10))
    others = [
        (DiscretePair.of([0.5, 0.5, 0], [0.5, 0, 0.5]), 3),
        (DiscretePair.of([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]), 5),
        (LaplacePair(0.5), 4),
        (COINS[Fraction(3, 4)], 1),
    ]
    pairs = repeat_coins(count_pairs([(coin, 12), *others]))
    assert pairs == ((RepeatedPair(coin, 12), 1), *others)
    many = count_pairs([(COINS[Fraction(1, 2)], 10**12)])  # too many values
    assert repeat_coins(many) == many
