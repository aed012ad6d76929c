"""The law of a draw among weighted cells is exact: every coin string brackets it."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import InvalidParameter
from deniable.exact.bits import SYSTEM
from deniable.exact.enclosures import exp_neg
from deniable.exact.weighted_choice import WeightedCells, choose
from tests.exact.enumeration import enumerate_coins

F = Fraction
CELLS = [
    ([1, 1], [0, 1], F(1, 2)),
    ([3, 1, 2], [0, 4, 1], F(1, 3)),
    ([1, 5, 1, 1], [2, 2, 2, 9], F(1, 7)),
    ([2, 0, 3], [4, -100, -1], F(1, 5)),
    ([7], [12], F(1)),
    ([1, 2**40], [0, 28], F(1)),
    ([1, 1, 1], [-(2**80), 1 - 2**80, 2**80], F(1, 2)),
    ([1, 1, 1], [0, 10**20, 3 * 10**20 + 1], F(1, 10**20)),
    ([1, 1, 2], [0, 2**950, 2**951], F(1, 2**950)),
]


def law(lengths, exponents, unit, bits=300):
    """Enclosed probabilities."""
    least = min(x for x, length in zip(exponents, lengths, strict=True) if length)
    weights = [
        tuple(length * end for end in exp_neg(unit * max(0, x - least), bits))
        for length, x in zip(lengths, exponents, strict=True)
    ]
    lows, highs = (sum(ends) for ends in zip(*weights, strict=True))
    return [(F(lo, highs), F(hi, lows)) for lo, hi in weights]


def is_bracketed(buckets, cells, depth):
    enumerated = enumerate_coins(lambda source: buckets.draw(source=source), depth)
    assert sum(enumerated.mass.values()) + enumerated.open == 1
    assert set(enumerated.mass) <= set(range(len(cells[0])))
    return all(enumerated.brackets(i, *ends) for i, ends in enumerate(law(*cells)))


@pytest.mark.parametrize("cells", CELLS, ids=str)
@pytest.mark.parametrize(("weight_bits", "word_bits"), [(3, 2), (2, 3), (6, 4)])
def test_all_coin_strings_bracket_the_law(cells, weight_bits, word_bits, size):
    depth = size(small=12, full=20, what="coins deep, all strings of a choice")
    buckets = WeightedCells(*cells, weight_bits=weight_bits, word_bits=word_bits)
    assert is_bracketed(buckets, cells, depth)


class ProposalIsFinal(WeightedCells):
    """A mutant: what the floats propose is taken."""

    def _decide_kept(self, index, source):
        return True


class NoFurtherBits(WeightedCells):
    """A mutant: where the first word leaves the coin open, it is heads."""

    def _decide_kept(self, index, source):
        class Zeros:
            drawn = False

            def draw(self, bits, count):
                if self.drawn:
                    return np.zeros(count, dtype=np.uint64)
                self.drawn = True
                return source.draw(bits, count)

        return super()._decide_kept(index, Zeros())


class TooLow(WeightedCells):
    """A mutant: an integer below the weight stands in for one above it."""

    def __init__(self, *cells, **bits):
        super().__init__(*cells, **bits)
        self._ceilings = np.maximum(self._ceilings - 1, 1)
        self._sums = np.cumsum(self._ceilings)


@pytest.mark.parametrize("mutant", [ProposalIsFinal, NoFurtherBits, TooLow])
@pytest.mark.parametrize("cells", CELLS[:2], ids=str)
def test_mutants_are_caught(mutant, cells):
    assert not is_bracketed(mutant(*cells, weight_bits=4, word_bits=2), cells, 14)


def ceilings_cover(buckets, lengths, exponents, unit):
    """Every integer lies above its true weight, and above it by hardly anything."""
    least = min(exponents)
    for i, (length, x) in enumerate(zip(lengths, exponents, strict=True)):
        lo, hi = (
            F(end, 1 << 2000) * length * F(2) ** buckets._shift
            for end in exp_neg(unit * (x - least), 2000)
        )
        assert hi < int(buckets._ceilings[i]) <= lo * (1 + F(1, 1 << 38)) + 1


@pytest.mark.parametrize("unit", [F(1, 3), F(1, 10**9), F(7, 10**30), F(10**400)])
@pytest.mark.parametrize("top", [40, 2**40, 2**61, 2**70])
def test_float_ceilings_lie_just_above_the_true_weights(unit, top):
    step = int(min(top, 800 / unit)) // 40 or 1
    exponents = [-17 + step * j for j in range(48)]
    lengths = [(1 << j) + 1 for j in range(48)][::-1]
    ceilings_cover(WeightedCells(lengths, exponents, unit), lengths, exponents, unit)


def test_long_lengths_keep_their_ceilings():
    lengths, exponents = [1, 2**899, 2**64 - 1], [0, 1400, 31]
    ceilings_cover(WeightedCells(lengths, exponents, F(1, 2)), lengths, exponents, F(1, 2))


def test_at_full_width_the_law_holds_and_a_near_one_does_not(size):
    draws = size(small=20_000, full=2_000_000, what="choices among weighted cells")
    cells = ([10, 1, 7, 0, 2], [3, 0, 2, -5, 40], F(1, 4))
    near = ([10, 1, 7, 0, 2], [3, 0, 2, -5, 40], F(1, 4) * F(13, 10))
    buckets = WeightedCells(*cells)
    counts = Counter(buckets.draw(source=SYSTEM) for _ in range(draws))
    assert set(counts) <= {0, 1, 2, 4}

    def fit(known):
        wanted = [float(lo) for lo, _ in law(*known)]
        seen, wanted = [counts[i] for i in (0, 1, 2)], [wanted[i] for i in (0, 1, 2)]
        total = sum(wanted)
        return chisquare(seen, [sum(seen) * weight / total for weight in wanted]).pvalue

    assert fit(cells) > 1e-9
    assert fit(near) < 1e-9


def test_a_million_distinct_exponents():
    exponents = np.arange(1_000_000)[::-1]
    index = choose(np.ones(1_000_000, dtype=np.int64), exponents, F(1, 2))
    assert 1_000_000 - index < 200  # exp(-100) apart


def test_the_best_may_lie_anywhere_in_int64():
    assert choose(np.array([1, 1]), np.array([2**63 - 1, -(2**63)]), F(1)) == 1


@pytest.mark.parametrize(
    ("lengths", "exponents", "unit"),
    [
        ([], [], F(1)),
        ([0, 0], [1, 2], F(1)),
        ([1, -1], [1, 2], F(1)),
        ([1], [1, 2], F(1)),
        ([1.5], [1], F(1)),
        ([1], [0.5], F(1)),
        ([True], [1], F(1)),
        ([[1]], [[1]], F(1)),
        ([1], [1], F(0)),
        ([2**900], [1], F(1)),
    ],
)
def test_bad_cells_are_refused(lengths, exponents, unit):
    with pytest.raises(InvalidParameter):
        choose(lengths, exponents, unit)
