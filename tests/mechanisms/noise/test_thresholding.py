import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import binomtest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Thresholding
from deniable.mechanisms.noise.thresholding import TruncatedNoise
from deniable.privacy import ApproximateLoss
from tests.mechanisms.contract import THRESHOLD, Claims, MechanismContract, fit
from tests.mechanisms.enumeration import check


def optimal(epsilon: float, delta: float, most: int) -> list[float]:
    """The largest chances of being shown that any (epsilon, delta) rule can have."""
    chances = [0.0]
    for _ in range(most):
        p = chances[-1]
        chances.append(
            min(math.exp(epsilon) * p + delta, 1 - math.exp(-epsilon) * (1 - p - delta), 1.0)
        )
    return chances


class TestThresholding(MechanismContract):
    mechanism = Thresholding(epsilon=1, delta=0.01)
    neighbors = tuple(pairwise(range(12)))
    outputs = (None, *range(30))
    must_be_told_apart = Thresholding(epsilon=Fraction(11, 10), delta=0.01)
    half_noise = Thresholding(epsilon=2, delta=0.01)

    def draw(self, mechanism, value):
        kept, noisy = mechanism.release(np.full(self.draws, value + 4))
        shown = [int(n) if k else None for k, n in zip(kept, noisy, strict=True)]
        return Counter(shown)

    def test_the_sampler_follows_pmf_and_nothing_near_it(self):
        counts = self.draw(self.mechanism, 0)
        assert fit(counts, self.mechanism, 4) > THRESHOLD
        assert fit(counts, self.must_be_told_apart, 4) < THRESHOLD


class TestThresholdingOfReplacedUnits(TestThresholding):
    mechanism = Thresholding(epsilon=2, delta=0.02, neighbors="replace")
    must_be_told_apart = Thresholding(epsilon=Fraction(22, 10), delta=0.02, neighbors="replace")
    half_noise = Thresholding(epsilon=6, delta=0.02, neighbors="replace")


class TestThresholdingWithinOneScale(TestThresholding):
    """The bound of the noise lies below its scale, so uniform noise is thinned."""

    mechanism = Thresholding(epsilon=0.2, delta=0.1)
    must_be_told_apart = Thresholding(epsilon=0.1, delta=0.1)
    half_noise = Thresholding(epsilon=0.4, delta=0.1)

    def test_the_bound_is_below_the_scale(self):
        assert self.mechanism.noise.bound < self.mechanism.noise.scale


@dataclass(frozen=True, slots=True, init=False)
class OneLess(Thresholding):
    """The noise is cut one step too soon."""

    @property
    def noise(self) -> TruncatedNoise:
        law = super(OneLess, self).noise
        return TruncatedNoise(law.scale, law.bound - 1)


@dataclass(frozen=True, slots=True, init=False)
class SoonerShown(Thresholding):
    """The right noise and a threshold one too low; empty groups are not in the data at all."""

    @property
    def threshold(self) -> int:
        return super(SoonerShown, self).threshold - 1

    def keep_bounds(self, units, bits=256):
        return self.noise.above(self.threshold - units, bits) if units else (0, 0)

    def _enclose_group(self, shown, units, bits):
        if shown is not None and not units:
            return 0, 0
        return super(SoonerShown, self)._enclose_group(shown, units, bits)


@pytest.mark.parametrize("mutant", [OneLess, SoonerShown])
@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_a_threshold_one_less_is_caught(mutant, epsilon):
    honest = Thresholding(epsilon=epsilon, delta=0.003)
    pairs = list(pairwise(range(2 * honest.threshold + 3)))
    outputs = [None, *range(4 * honest.threshold + 4)]
    assert check(honest, pairs, outputs).private
    assert check(mutant(epsilon=epsilon, delta=0.003), pairs, outputs).violated


GROUPS = [
    Thresholding(epsilon=2, delta=0.05, groups=2),
    Thresholding(epsilon=2, delta=0.05, groups=1, neighbors="replace"),
]


@pytest.mark.parametrize("mechanism", GROUPS, ids=lambda each: each.neighbors)
def test_a_unit_in_two_groups_at_once(mechanism):
    """In two groups, or moved from one to another, with both counts seen together."""
    assert mechanism.noise.scale == 1
    top = 2 * mechanism.threshold + 3
    if mechanism.neighbors == "replace":
        pairs = [([a, b + 1], [a + 1, b]) for a, b in product((0, 1, top), repeat=2)]
    else:
        pairs = [([a, b], [a + 1, b + 1]) for a, b in product((0, 1, top), repeat=2)]
    each = [None, *range(mechanism.threshold + 1, top + mechanism.threshold + 2)]
    outputs = [list(two) for two in product(each, repeat=2)]
    assert check(mechanism, pairs, outputs).private
    careless = Thresholding(epsilon=2, delta=0.05)
    assert check(Claims(careless, mechanism), pairs, outputs).violated


@pytest.mark.parametrize(("epsilon", "threshold"), [(1, 11), (0.1, 86)], ids=["one", "a tenth"])
def test_known_thresholds(epsilon, threshold):
    mechanism = Thresholding(epsilon=epsilon, delta=1e-5)
    assert mechanism.threshold == threshold
    formula = (
        math.log((math.expm1(epsilon) + 2e-5) / ((math.exp(epsilon) + 1) * 1e-5)) / epsilon
    )
    assert math.ceil(formula) == threshold
    first = next(n for n in range(400) if mechanism.keep_probability(n) >= 0.5)
    surely = next(n for n in range(400) if mechanism.keep_bounds(n)[0] == 1 << 256)
    assert (first, surely) == (threshold + 1, 2 * threshold + 1)


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1, 3])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9])
def test_it_is_the_best_rule_but_for_a_fraction_of_a_unit(epsilon, delta):
    mechanism = Thresholding(epsilon=epsilon, delta=delta)
    best = optimal(epsilon, delta, 700)
    for n in range(1, 600):
        chance = mechanism.keep_probability(n)
        assert chance <= best[n] * (1 + 1e-9)
        assert chance >= best[n - 1] - delta


def test_known_answers_of_the_best_rule():
    best = optimal(1, 1e-5, 30)
    assert best[1:4] == pytest.approx([1e-5, 3.71828e-5, 1.11073e-4], rel=1e-5)
    assert next(n for n, p in enumerate(best) if p >= 0.5) == 12
    assert next(n for n, p in enumerate(best) if p == 1) == 23
    tenth = optimal(0.1, 1e-5, 200)
    assert next(n for n, p in enumerate(tenth) if p >= 0.5) == 86
    assert next(n for n, p in enumerate(tenth) if p == 1) == 172


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("groups", [1, 2, 7, 100])
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-12, 1e-100])
def test_one_unit_alone_is_shown_with_probability_delta_at_most(neighbors, groups, delta):
    mechanism = Thresholding(epsilon=1, delta=delta, groups=groups, neighbors=neighbors)
    bits = 2048
    most = Fraction(mechanism.keep_bounds(1, bits)[1], 1 << bits)
    changes = groups * (2 if neighbors == "replace" else 1)
    assert 1 - (1 - most) ** changes <= Fraction(repr(delta))
    one_less = TruncatedNoise(mechanism.noise.scale, mechanism.threshold - 1)
    sooner = Fraction(one_less.pmf(one_less.bound, bits)[0], 1 << bits)
    assert 1 - (1 - sooner) ** changes > Fraction(repr(delta))
    assert mechanism.keep_probability(0) == 0
    assert mechanism.loss == ApproximateLoss(1, delta)


def test_a_lonely_key_in_a_million_runs():
    mechanism = Thresholding(epsilon=1, delta=1e-4)
    kept, _ = mechanism.release(np.ones(1_000_000, dtype=np.int64))
    chance = mechanism.keep_probability(1)
    assert 0.5e-4 < chance <= 1e-4
    assert binomtest(int(kept.sum()), kept.size, chance).pvalue > 1e-9
    assert binomtest(int(kept.sum()), kept.size, chance * 3).pvalue < 1e-9


def test_margin_is_honest_and_least():
    mechanism = Thresholding(epsilon=0.3, delta=1e-6, groups=3)
    margin = mechanism.margin(0.9)
    within = [mechanism.noise.outside(m, 128)[1] / 2**128 for m in (margin, margin - 1)]
    assert within[0] <= 0.1 < within[1]
    noisy = mechanism.noise.draw(100_000)
    assert abs(noisy).max() <= mechanism.threshold
    assert abs(np.mean(abs(noisy) <= margin) - 0.9) < 0.02


def test_what_is_not_shown_does_not_leave():
    kept, noisy = Thresholding(epsilon=1, delta=1e-5).release([3] * 1000)
    assert set(noisy[~kept].tolist()) == {0}
    assert Thresholding(epsilon=1, delta=1e-5).release([])[0].size == 0


@pytest.mark.parametrize("bad", [[-1], [1.5], [True], [["1"]], [[1, 2]], ["3"], [2**62]])
def test_bad_units_are_refused_without_being_quoted(bad):
    with pytest.raises(InvalidData) as caught:
        Thresholding(epsilon=1, delta=1e-5).release(bad)
    assert str(bad[0]) not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("epsilon", 0),
        ("epsilon", float("nan")),
        ("delta", 0),
        ("delta", 1),
        ("delta", -1),
        ("groups", 0),
        ("groups", 1.5),
        ("neighbors", "both"),
        ("neighbors", None),
    ],
)
def test_bad_parameters_are_refused_by_name(name, bad):
    with pytest.raises(InvalidParameter, match=name):
        Thresholding(**{"epsilon": 1, "delta": 1e-6, name: bad})
