"""A table's law is exact: every coin string, with words of a few bits, brackets it."""

from fractions import Fraction

import numpy as np
import pytest

from deniable.exact.bits import SYSTEM, ScriptedBits
from deniable.exact.distributions import (
    ExponentialDistribution,
    GaussianDistribution,
    ListedDistribution,
    RoundedGaussianDistribution,
)
from deniable.exact.table_sampler import TableSampler
from tests.exact.enumeration import enumerate_coins

F = Fraction
LAWS = [
    ExponentialDistribution(F(1, 2)),
    ExponentialDistribution(F(3)),
    ExponentialDistribution(F(2), signed=False),
    GaussianDistribution(F(1)),
    GaussianDistribution(F(7, 3)),
    RoundedGaussianDistribution(F(1)),
    RoundedGaussianDistribution(F(1, 5)),
    ListedDistribution((1, 2, 1), (F(0), F(1, 3), F(2))),
    ListedDistribution((5, 0, 3), (F(0), F(0), F(0))),
    ListedDistribution((0, 1, 2, 0), (F(0), F(0), F(0), F(0))),
]


def probabilities(law, count=60, bits=200):
    """Enclosed probabilities of the first cells."""
    count = min(count, law.cells_needed(60))
    lows, highs, after = law.weights(count, bits)
    for index, (low, high) in enumerate(zip(lows, highs, strict=True)):
        cell = index >> 1 ^ -(index & 1) if law.signed else index
        yield cell, F(low, sum(highs) + after), F(high, sum(lows))


def is_bracketed(table, depth):
    enumerated = enumerate_coins(lambda source: int(table.draw(1, source)[0]), depth)
    assert sum(enumerated.mass.values()) + enumerated.open == 1
    return all(enumerated.brackets(*known) for known in probabilities(table.distribution))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_all_coin_strings_bracket_the_law(law, size):
    depth = size(small=12, full=19, what="coins deep, all strings of a table")
    assert is_bracketed(TableSampler(law, slot_bits=3, word_bits=4), depth)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_without_slots_every_draw_takes_the_slow_path_and_the_law_holds(law, size):
    depth = size(small=12, full=18, what="coins deep, all strings of a table of one slot")
    assert is_bracketed(TableSampler(law, slot_bits=1, word_bits=2), depth)


class ProposalIsFinal(TableSampler):
    """A mutant: where the first word leaves doubt, it takes the first cell that is left."""

    def settle(self, word, source):
        return int(self._cell_at(int(np.searchsorted(self._upper, word))))


class NoFurtherBits(TableSampler):
    """A mutant: encloses more closely, but fills U up with zeros instead of drawing."""

    def settle(self, word, source):
        class Zeros:
            def draw(self, bits, count):
                return np.zeros(count, dtype=np.uint64)

        return super().settle(word, Zeros())


@pytest.mark.parametrize("mutant", [ProposalIsFinal, NoFurtherBits])
@pytest.mark.parametrize("law", [LAWS[1], LAWS[3], LAWS[5], LAWS[7]], ids=str)
def test_mutants_are_caught(mutant, law):
    assert not is_bracketed(mutant(law, slot_bits=3, word_bits=4), 15)


def test_the_slow_path_goes_beyond_the_table():
    """Five words of ones lie in the endless tail: the draw leaves the listed cells."""
    table = TableSampler(ExponentialDistribution(F(1)), slot_bits=4, word_bits=8)
    half = table._count // 2
    cell = table.settle(255, ScriptedBits([255] * 4 + [0] * 20))
    assert cell not in range(-half, half)


def test_cells_without_weight_may_stand_at_the_end():
    drawn = TableSampler(ListedDistribution((1, 1, 1, 0), (F(0),) * 4)).draw(100_000, SYSTEM)
    assert set(drawn.tolist()) == {0, 1, 2}


def test_empty_draws_are_empty():
    assert TableSampler(ExponentialDistribution(F(1))).draw(0, SYSTEM).shape == (0,)
