"""What every loss must keep. A subclass names its loss, a second one, and the exact curve."""

import math
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deniable.privacy
from deniable.errors import InvalidParameter
from deniable.privacy import GaussianLoss, Loss, PureLoss

mp = mpmath.mp.clone()
mp.dps = 80

NAMES = {**vars(deniable.privacy), "Fraction": Fraction}

epsilons = st.floats(0, 12, allow_subnormal=False)
deltas = st.floats(-40, -0.5).map(lambda power: float(f"{10**power:.6g}"))
alphas = st.floats(0, 1, allow_subnormal=False)

# Hypothesis would mind that one inherited test runs in several classes.
shared = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])


def read(number):
    """A float as the decimal it prints as, or a rational, in 80 digits."""
    if isinstance(number, Fraction):
        return mp.mpf(number.numerator) / number.denominator
    return mp.mpf(repr(number)) if isinstance(number, float) else mp.mpf(str(Decimal(number)))


def assert_just_above(value: float, truth, *, tolerance: float = 1e-12):
    """value >= truth, by no more than rounding."""
    assert read(value) >= truth * (1 - mp.mpf(10) ** -60)
    assert read(value) <= truth * (1 + mp.mpf(tolerance)) + mp.mpf("1e-323")


class LossContract:
    """Inherit, set `loss` and `other`, and say the exact delta, `truth(epsilon)`, in mpmath."""

    loss: Loss
    other: Loss
    tight = True  # whether our number is the truth, and not only above it
    convex = True

    def truth(self, epsilon):
        raise NotImplementedError

    @shared
    @given(epsilons)
    def test_delta_is_never_below_the_truth(self, epsilon):
        value, truth = self.loss.delta(epsilon), self.truth(read(epsilon))
        assert read(value) >= truth * (1 - mp.mpf(10) ** -60)
        if self.tight:
            assert_just_above(value, truth)

    @shared
    @given(deltas)
    def test_epsilon_is_never_below_the_truth(self, delta):
        epsilon = self.loss.epsilon(delta)
        if epsilon == math.inf:
            assert self.truth(read(1e6)) > read(delta)
            return
        assert self.truth(read(epsilon)) <= read(delta) * (1 + mp.mpf(10) ** -60)
        if self.tight and epsilon > 0:
            assert self.truth(read(epsilon) * (1 - mp.mpf("1e-12"))) > read(delta)

    @shared
    @given(epsilons, epsilons)
    def test_delta_falls_as_epsilon_grows(self, first, another):
        low, high = sorted((first, another))
        assert 1 >= self.loss.delta(low) >= self.loss.delta(high) >= 0

    @shared
    @given(deltas, deltas)
    def test_epsilon_falls_as_delta_grows(self, first, another):
        low, high = sorted((first, another))
        assert self.loss.epsilon(low) >= self.loss.epsilon(high) >= 0

    @shared
    @given(deltas)
    def test_epsilon_and_delta_undo_each_other(self, delta):
        epsilon = self.loss.epsilon(delta)
        if epsilon < math.inf:
            assert self.loss.delta(epsilon) <= delta

    @settings(shared, max_examples=5)
    @given(alphas, alphas)
    def test_tradeoff_falls_and_is_convex(self, first, another):
        low, high = sorted((first, another))
        middle = (low + high) / 2
        at_low, at_middle, at_high = map(self.loss.tradeoff, (low, middle, high))
        assert 1 - low + 1e-15 >= at_low >= at_middle - 1e-12
        assert at_middle >= at_high - 1e-12 >= -1e-12
        if self.convex:
            assert at_middle <= (at_low + at_high) / 2 + 1e-9

    @settings(shared, max_examples=5)
    @given(alphas, epsilons)
    def test_tradeoff_respects_the_delta_curve(self, alpha, epsilon):
        """Every delta rules out tests; what is left is what `tradeoff` says, and no less."""
        room = 1 - self.loss.delta(epsilon)
        steep = room - math.exp(epsilon) * alpha
        flat = math.exp(-epsilon) * (room - alpha)
        assert self.loss.tradeoff(alpha) >= max(steep, flat) - 1e-9

    def test_tradeoff_touches_the_line_of_total_variation(self):
        """Some test has false alarms + misses = 1 - delta(0), and none has less."""
        least = 1 - float(self.truth(mp.mpf(0)))
        sums = [k / 12 + self.loss.tradeoff(k / 12) for k in range(13)]
        assert min(sums) >= 1 - self.loss.delta(0) - 1e-9
        if self.tight:
            assert min(sums) <= least + 0.09

    def test_tradeoff_at_the_ends(self):
        assert self.loss.tradeoff(0) == pytest.approx(float(1 - self.loss.slack), abs=1e-15)
        assert Fraction(repr(self.loss.tradeoff(0))) <= 1 - self.loss.slack
        assert self.loss.tradeoff(1) == 0

    def test_a_group_of_one_is_itself(self):
        assert self.loss.group(1) == self.loss

    @settings(shared, max_examples=10)
    @given(st.integers(2, 6), deltas)
    def test_larger_groups_lose_more(self, k, delta):
        assert self.loss.group(k).epsilon(delta) >= self.loss.epsilon(delta)
        assert self.loss.group(k).delta(1) >= self.loss.delta(1)

    def test_composition_is_commutative_and_associative(self):
        a, b, c = self.loss, self.other, PureLoss(odds=7)
        assert a + b == b + a
        assert hash(a + b) == hash(b + a)
        assert (a + b) + c == a + (b + c)
        assert a + a == a * 2 == 2 * a
        assert (a * 2) * 3 == a * 6
        assert a * 1 == a
        assert sum([a, b]) == a + b
        assert (a + b) * 2 == a * 2 + b * 2

    @settings(shared, max_examples=10)
    @given(st.integers(2, 9), deltas)
    def test_more_releases_lose_more(self, count, delta):
        more, fewer = self.loss * count, self.loss * (count - 1)
        assert more.epsilon(delta) >= fewer.epsilon(delta) * (1 - 1e-15)
        assert (self.loss + self.other).epsilon(delta) >= self.loss.epsilon(delta) * (1 - 1e-15)

    def test_it_prints_as_python_that_makes_it(self):
        assert eval(repr(self.loss), dict(NAMES)) == self.loss

    def test_it_cannot_be_changed(self):
        with pytest.raises(FrozenInstanceError):
            setattr(self.loss, fields(self.loss)[0].name, None)

    @pytest.mark.parametrize("delta", [-0.1, 1, 1.5, math.nan, math.inf, "0.1", True, None])
    def test_a_delta_outside_0_to_1_is_refused(self, delta):
        with pytest.raises(InvalidParameter, match="`delta`"):
            self.loss.epsilon(delta)

    @pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf, "1", True, None])
    def test_an_unusable_epsilon_is_refused(self, epsilon):
        with pytest.raises(InvalidParameter, match="`epsilon`"):
            self.loss.delta(epsilon)

    @pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "1", True, None])
    def test_an_unusable_alpha_is_refused(self, alpha):
        with pytest.raises(InvalidParameter, match="`alpha`"):
            self.loss.tradeoff(alpha)

    @pytest.mark.parametrize("k", [0, -1, 1.5, "2", True, None])
    def test_an_unusable_group_is_refused(self, k):
        with pytest.raises(InvalidParameter, match="`k`"):
            self.loss.group(k)

    @pytest.mark.parametrize("count", [-1, 1.5, "2", True, None])
    def test_an_unusable_count_is_refused(self, count):
        with pytest.raises(InvalidParameter, match="`count`"):
            self.loss * count

    def test_only_losses_add_up(self):
        with pytest.raises(TypeError):
            self.loss + 1

    def test_it_surely_fits_what_it_reports(self):
        delta = max(1e-6, float(self.loss.slack) * 2)
        epsilon = self.loss.epsilon(delta)
        budget = deniable.privacy.ApproximateLoss(epsilon, delta)
        assert self.loss.fits(budget)
        assert not (self.loss + GaussianLoss(3)).fits(budget)
