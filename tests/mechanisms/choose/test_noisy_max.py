"""Noisy maxima: Laplace's own contract, and the equality of the other two with their twins."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import InvalidParameter
from deniable.exact.enclosures import exp_neg
from deniable.mechanisms import Exponential, NoisyMax, PermuteAndFlip
from deniable.mechanisms.choose.laplace_probabilities import LaplaceProbabilities
from deniable.privacy import PureLoss, RangeLoss
from tests.mechanisms.choice import ChoiceContract
from tests.mechanisms.enumeration import check
from tests.mechanisms.tables import OnTables, counts, neighbors


class TestLaplaceNoise(ChoiceContract):
    mechanism = NoisyMax(epsilon=1, noise="laplace")
    needs_a_grid = True


@pytest.mark.parametrize(
    ("noise", "twin"), [("exponential", PermuteAndFlip), ("gumbel", Exponential)]
)
@pytest.mark.parametrize("monotone", [False, True])
def test_the_other_two_are_their_twins(noise, twin, monotone):
    """One law, one loss, one margin; the twins have proofs of their own."""
    same = {"epsilon": Fraction(3, 2), "sensitivity": 2, "monotone": monotone}
    mechanism, twin = NoisyMax(noise=noise, **same), twin(**same)
    assert mechanism.loss == twin.loss
    assert mechanism.margin(0.9, candidates=7) == twin.margin(0.9, candidates=7)
    for i in range(3):
        assert mechanism.pmf_bounds(i, [3, 0, 1]) == twin.pmf_bounds(i, [3, 0, 1])
    seen = Counter(mechanism.release({"a": 3, "b": 0, "c": 1}) for _ in range(4_000))
    law = twin.pmf({"a": 3, "b": 0, "c": 1})
    assert chisquare([seen[k] for k in law], [4_000 * p for p in law.values()]).pvalue > 1e-9


SCORES = [[3, 0, 1], [2, 2], [0, 5, 9, 9, 1]]


@pytest.mark.parametrize("scores", SCORES, ids=str)
def test_gumbel_noise_is_the_exponential_mechanism(scores):
    twin = Exponential(epsilon=1)
    assert NoisyMax(epsilon=1, noise="gumbel").pmf(scores).tolist() == twin.pmf(scores).tolist()


@pytest.mark.parametrize("scores", SCORES, ids=str)
def test_gumbel_noise_in_floats_agrees(scores):
    """The equality itself, against numpy's own (inexact) Gumbel noise."""
    generator = np.random.default_rng(5)
    noisy = np.array(scores) / 2 + generator.gumbel(size=(200_000, len(scores)))
    seen = np.bincount(noisy.argmax(axis=1), minlength=len(scores)) / 200_000
    law = NoisyMax(epsilon=1, noise="gumbel").pmf(scores)
    assert seen.tolist() == pytest.approx(law.tolist(), abs=0.01)


@pytest.mark.parametrize("scores", SCORES, ids=str)
def test_exponential_noise_in_floats_agrees_with_permute_and_flip(scores):
    generator = np.random.default_rng(6)
    noisy = np.array(scores) + generator.exponential(2, size=(200_000, len(scores)))
    seen = np.bincount(noisy.argmax(axis=1), minlength=len(scores)) / 200_000
    law = NoisyMax(epsilon=1).pmf(scores)
    assert law.tolist() == PermuteAndFlip(epsilon=1).pmf(scores).tolist()
    assert seen.tolist() == pytest.approx(law.tolist(), abs=0.01)


def test_losses():
    assert NoisyMax(epsilon=1, noise="gumbel").loss == RangeLoss(1)
    assert NoisyMax(epsilon=1).loss == NoisyMax(epsilon=1, noise="laplace").loss == PureLoss(1)


def test_half_the_laplace_noise_is_caught():
    strong = NoisyMax(epsilon=2, noise="laplace")
    claim = NoisyMax(epsilon=1, noise="laplace")
    broken = OnTables(strong, counts, claim)
    assert check(broken, neighbors("replace", 3, 3), range(4)).violated


def test_a_fine_step_and_fractions_lie_on_a_public_grid():
    """The grid of Laplace noise must not come from the scores' own denominators."""
    mechanism = NoisyMax(epsilon=1, noise="laplace")
    first = mechanism._read([Fraction(1, 3), Fraction(1, 2)])
    second = mechanism._read([Fraction(1, 5), Fraction(1, 2)])
    assert first.unit == second.unit == Fraction(1, 1024)
    assert first.real


def test_enclosed_masses_and_tails_are_those_of_the_law():
    walls, scale = LaplaceProbabilities(Fraction(3), 80), Fraction(3)
    unit = 1 << walls.work
    for z in range(-6, 7):
        direct = [exp_neg(abs(k) / scale, 400) for k in range(-1200, 1201)]
        total = Fraction(sum(lo for lo, _ in direct))
        tail = sum(direct[k + 1200][0] for k in range(z, 1201)) / total
        mass = direct[z + 1200][0] / total
        for (lo, hi), truth in ((walls.at(z), mass), (walls.at_least(z), tail)):
            assert lo - 1 <= truth * unit <= hi + 1
            assert hi - lo < 64
        lo, hi = walls.below(z)
        assert lo - 1 <= (1 - tail) * unit <= hi + 1


@pytest.mark.parametrize("noise", ["cauchy", None, 1])
def test_unknown_noise_is_refused(noise):
    with pytest.raises(InvalidParameter, match="noise"):
        NoisyMax(epsilon=1, noise=noise)
