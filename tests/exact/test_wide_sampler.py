"""Large scales: what is kept is kept with exactly exp(-penalty), by every coin string."""

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.exact.bits import SYSTEM, ScriptedBits
from deniable.exact.distributions import (
    ExponentialDistribution,
    GaussianDistribution,
    RoundedGaussianDistribution,
)
from deniable.exact.enclosures import exp_neg
from deniable.exact.wide_sampler import WideSampler
from tests.exact.enumeration import enumerate_coins

F = Fraction
LAWS = [
    ExponentialDistribution(F(5, 2), shift=1),
    ExponentialDistribution(F(4), signed=False, shift=2),
    GaussianDistribution(F(9), shift=1),
    GaussianDistribution(F(4), shift=0, rounds=True),
    GaussianDistribution(F(9), shift=1, rounds=True),
]
KEEP_BITS = 2


def shrunken(law, kind=WideSampler, word_bits=7):
    slot_bits = word_bits - law.shift - law.rounds - KEEP_BITS
    return kind(law, slot_bits=slot_bits, word_bits=word_bits)


def keep_probability(law, cell, place, bits=60):
    """Encloses the mean of exp(-penalty) over what is still open of the place."""
    if not law.rounds:
        lo, hi = exp_neg(law.exact_penalty(cell, F(place)), bits)
        return F(lo, 1 << bits), F(hi, 1 << bits)
    pieces = 1 << 9
    ends = [F(place * pieces + i, 2 * pieces) for i in range(pieces + 1)]
    keeps = [exp_neg(law.exact_penalty(cell, end), bits) for end in ends]
    low = sum(lo for lo, _ in keeps[1:])
    high = sum(hi for _, hi in keeps[:-1])
    return F(low, pieces << bits), F(high, pieces << bits)


def kept_by_coins(sampler, law, cell, place, depth):
    """P(kept), enumerated, for a word whose place and cell are given."""
    width = law.shift + law.rounds
    seen = place if cell >= 0 else place ^ ((1 << width) - 1)

    def sample(source):
        first = int(source.draw(KEEP_BITS, 1)[0])
        word = (first << width | seen) << int(sampler._slot_bits)
        words = np.array([word], dtype=np.uint64)
        return bool(sampler._decide_kept(np.array([cell]), words, source)[0])

    return enumerate_coins(sample, depth)


def second_look_is_exact(sampler, law, depth):
    places = range(1 << law.shift + law.rounds)
    cells = (0, 1, -1, -2) if law.signed else (0, 1)
    return all(
        kept_by_coins(sampler, law, cell, place, depth).brackets(
            True, *keep_probability(law, cell, place)
        )
        for cell in cells
        for place in places
    )


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_second_look_keeps_with_exactly_the_right_probability(law, size):
    depth = size(small=12, full=18, what="coins deep, all strings of a second look")
    assert second_look_is_exact(shrunken(law, word_bits=6 if law.rounds else 7), law, depth)


class ProposalIsFinal(WideSampler):
    """A mutant: in doubt it believes the float."""

    def _settle(self, cell, place, uniform, digits, source):
        bits = self._keep_bits + self._word_bits
        where = (
            place + (digits + 0.5) / 2**self._word_bits if self._distribution.rounds else place
        )
        where = where / 2 if self._distribution.rounds else where
        keep = math.exp(-self._distribution.exact_penalty(cell, F(where)))
        return (uniform + 0.5) / 2**bits < keep


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_mutant_that_believes_the_float_is_caught(law):
    mutant = shrunken(law, ProposalIsFinal, word_bits=6 if law.rounds else 7)
    assert not second_look_is_exact(mutant, law, 14)


def value_probability(law, value, bits=80):
    """Encloses P(value) of the law that the sampler promises, from its definition."""
    if isinstance(law, ExponentialDistribution):
        a_lo, a_hi = (F(end, 1 << bits) for end in exp_neg(1 / law.scale, bits))
        total = ((1 + a_lo) / (1 - a_lo), (1 + a_hi) / (1 - a_hi))
        if not law.signed:
            total = (1 / (1 - a_lo), 1 / (1 - a_hi))
        return a_lo ** abs(value) / total[1], a_hi ** abs(value) / total[0]
    if law.rounds:
        lows, highs, _ = RoundedGaussianDistribution(law.variance).weights(80, bits)
        index = 2 * value if value >= 0 else 2 * ~value + 1
        return F(lows[index], 1 << bits), F(highs[index], 1 << bits)
    lows, highs, after = GaussianDistribution(law.variance).weights(120, bits)
    index = 2 * value if value >= 0 else 2 * ~value + 1
    return F(lows[index], sum(highs) + after), F(highs[index], sum(lows))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_whole_draws_are_bracketed(law, size):
    """First looks, second looks and redraws together."""
    depth = size(small=14, full=19, what="coins deep, all strings of a wide draw")
    sampler = shrunken(law, word_bits=7)
    enumerated = enumerate_coins(lambda source: int(sampler.draw(1, source)[0]), depth)
    assert enumerated.open < F(4, 5)
    values = range(-12, 13) if law.signed else range(13)
    assert all(enumerated.brackets(v, *value_probability(law, v)) for v in values)
    assert sum(enumerated.mass.values()) + enumerated.open == 1


def test_values_beyond_64_bits_come_as_python_integers():
    """A forced cell so far out that its integers need more than 64 bits."""
    sampler = WideSampler(ExponentialDistribution(F(2**50), shift=44))
    sampler._table.draw_rest = lambda count, source: np.full(count, 1 << 30)
    empty = int(np.flatnonzero(sampler._table.slots == -(1 << 63))[0])
    drawn = sampler.draw(1, ScriptedBits([empty, 0]))
    assert drawn.dtype == object
    assert drawn[0] == 1 << 74


def test_plain_words_never_need_a_second_look():
    """The integer bound of the first look is below every keep probability that it covers."""
    for law in LAWS:
        sampler = shrunken(law)
        sure = F(sampler._certain_keeps(), 1 << KEEP_BITS)
        owned = {int(c) for c in sampler._table.slots if c != -(1 << 63)}
        for cell in owned:
            lo, _ = exp_neg(law.exact_penalty(cell, F(1 << law.shift)), 60)
            assert sure <= F(lo, 1 << 60)


def test_empty_draws_are_empty():
    assert WideSampler(GaussianDistribution(F(10**6), shift=3)).draw(0, SYSTEM).shape == (0,)
