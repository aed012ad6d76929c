"""The samplers at full width and any scale: the right law passes, one 10 % off fails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from deniable import exact
from deniable.errors import InvalidParameter
from deniable.exact import samplers
from deniable.exact.bits import SYSTEM, ScriptedBits

F = Fraction
MISTAKE = 1e-9
SCALES = [F(1, 2**20), F(1, 3), F(1), F(37, 10), F(100), F(1000), F(2**20), F(2**40), F(2**50)]


def laplace_cdf(k, scale):
    """P(Z <= k) for the discrete Laplace law, at integers k."""
    a = math.exp(-1 / scale)
    return np.where(
        k < 0, a ** np.minimum(-k, 1e4 * scale) / (1 + a), 1 - a ** (k + 1.0) / (1 + a)
    )


def geometric_cdf(k, scale):
    return np.where(k < 0, 0.0, -np.expm1(-(k + 1.0) / scale))


def rounded_cdf(k, sigma):
    return stats.norm.cdf((k + 0.5) / sigma)


def discrete_gaussian_cdf(k, sigma):
    if sigma > 30:  # then the two laws agree to far below what a sample can tell
        return rounded_cdf(k, sigma)
    support = np.arange(-400, 401)
    mass = np.exp(-(support**2) / (2 * sigma**2))
    return np.cumsum(mass / mass.sum())[np.clip(k, -400, 400).astype(int) + 400]


def p_value(drawn, cdf, scale):
    """Chi-square of the draws against about fifty bins of equal probability."""
    spread = float(drawn.std()) or 1.0
    edges = np.unique(np.round(np.quantile(drawn, np.linspace(0.02, 0.98, 49))))
    edges = edges[np.abs(edges) < 20 * spread] if spread > 1 else np.unique([-2, -1, 0, 1])
    wanted = np.diff(np.concatenate([[0.0], cdf(edges.astype(float), scale), [1.0]]))
    places = np.searchsorted(edges, drawn.astype(float), side="left")
    seen = np.bincount(places, minlength=edges.size + 1)
    expected = wanted * drawn.size
    assert (expected[seen > 0] > 0).all()
    common = expected > 20
    statistic = float((((seen - expected) ** 2)[common] / expected[common]).sum())
    return stats.chi2.sf(statistic, max(1, int(common.sum()) - 1))


FAMILIES = {
    "discrete Laplace": (exact.discrete_laplace, laplace_cdf),
    "geometric": (exact.geometric, geometric_cdf),
    "rounded Gaussian": (lambda s, n: exact.rounded_gaussian(s * s, n), rounded_cdf),
    "discrete Gaussian": (
        lambda s, n: exact.discrete_gaussian(s * s, n),
        discrete_gaussian_cdf,
    ),
}


@pytest.mark.parametrize("scale", SCALES[1:], ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_draws_follow_the_law_and_not_one_ten_per_cent_off(family, scale, size):
    draw, cdf = FAMILIES[family]
    drawn = draw(scale, size(small=200_000, full=20_000_000, what="draws of each sampler"))
    assert p_value(drawn, cdf, float(scale)) > MISTAKE
    assert p_value(drawn, cdf, float(scale) * 1.1) < MISTAKE
    assert p_value(drawn, cdf, float(scale) / 1.1) < MISTAKE


@pytest.mark.parametrize("family", FAMILIES)
def test_the_least_scale_is_served_too(family):
    assert not FAMILIES[family][0](SCALES[0], 1000).any()


@pytest.mark.parametrize("family", FAMILIES)
def test_large_scales_use_every_integer(family):
    """No grid shows: the lowest bits of draws at scale 2**50 are fair."""
    drawn = FAMILIES[family][0](F(2**50), 100_000)
    for bit in range(8):
        ones = int((drawn >> bit & 1).sum())
        assert abs(ones - 50_000) < 6.5 * 25_000**0.5


def test_scales_beyond_the_promise_are_refused():
    with pytest.raises(InvalidParameter, match=r"at most 2\*\*50 grid steps"):
        exact.discrete_laplace(F(2**51), 1)
    with pytest.raises(InvalidParameter, match="Choose a larger epsilon or `step`"):
        exact.rounded_gaussian(F(2**104), 1)


class AllSlow(samplers.TableSampler):
    """Nobody owns a slot, and the first word proves nothing."""

    def __init__(self, law):
        super().__init__(law, slot_bits=1)
        self.slots[:] = -(1 << 63)
        self._owned = [0] * len(self._owned)
        self._lower[:], self._upper[:] = 0, np.uint64(2**64 - 1)
        self.settled = 0

    def settle(self, word, source):
        self.settled += 1
        return super().settle(word, source)


@pytest.mark.parametrize(
    ("law", "cdf", "scale"),
    [
        (samplers.ExponentialDistribution(F(3)), laplace_cdf, 3.0),
        (samplers.GaussianDistribution(F(4)), discrete_gaussian_cdf, 2.0),
        (samplers.RoundedGaussianDistribution(F(4)), rounded_cdf, 2.0),
    ],
    ids=["Laplace", "discrete Gaussian", "rounded Gaussian"],
)
def test_forcing_every_draw_through_the_slow_path_keeps_the_law(law, cdf, scale, size):
    count = size(small=400, full=20_000, what="draws of each sampler, all by the slow path")
    table = AllSlow(law)
    drawn = table.draw(count, SYSTEM)
    assert table.settled == count
    assert p_value(drawn, cdf, scale) > MISTAKE


def test_categorical_follows_lengths_and_exponents(size):
    count = size(small=200_000, full=10_000_000, what="categorical draws")
    lengths, exponents = [4, 0, 1, 7], [F(5), F(0), F(11, 2), F(13, 2)]
    drawn = exact.categorical(lengths, exponents, count)
    weights = np.array(lengths) * np.exp(-np.array([float(x) for x in exponents]))
    seen = np.bincount(drawn, minlength=4)
    assert seen[1] == 0
    keep = weights > 0
    expected = (weights / weights.sum() * count)[keep]
    assert stats.chisquare(seen[keep], expected).pvalue > MISTAKE
    wrong = np.array([5.0, 1.0, 7.0])
    assert stats.chisquare(seen[keep], wrong / wrong.sum() * count).pvalue < MISTAKE


@pytest.mark.parametrize(
    ("lengths", "exponents"), [([1], []), ([0, 0], [F(0)] * 2), ([1, -1], [F(0)] * 2)]
)
def test_categorical_refuses_what_is_no_law(lengths, exponents):
    with pytest.raises(InvalidParameter, match="`lengths`"):
        exact.categorical(lengths, exponents, 1)


@pytest.mark.parametrize(
    ("coin", "p"),
    [
        (lambda n: exact.bernoulli(F(1, 3), n), 1 / 3),
        (lambda n: exact.bernoulli(F(0), n), 0),
        (lambda n: exact.bernoulli_exp(F(1, 2), n), math.exp(-0.5)),
        (lambda n: exact.bernoulli_exp(F(9), n), math.exp(-9)),
    ],
)
def test_coins(coin, p):
    heads = int(coin(100_000).sum())
    assert stats.binomtest(heads, 100_000, p).pvalue > MISTAKE


@pytest.mark.parametrize("n", [1, 6, 7, 2**16 + 1, 3 * 2**61, 3 * 2**70])
def test_uniform_below(n, size):
    count = size(small=20_000, full=1_000_000, what="uniform draws")
    drawn = exact.uniform_below(n, count)
    assert all(0 <= int(x) < n for x in drawn[:1000])
    places = np.array([int(x) * 3 // n for x in drawn])
    expected = (
        [sum(1 for x in range(n) if x * 3 // n == i) for i in range(3)] if n < 100 else [1] * 3
    )
    share = np.array(expected) / sum(expected)
    keep = share > 0
    seen = np.bincount(places, minlength=3)[keep]
    assert keep.sum() == 1 or stats.chisquare(seen, share[keep] * count).pvalue > MISTAKE


def test_coins_refuse_what_is_no_probability():
    with pytest.raises(InvalidParameter, match="from 0 to 1"):
        exact.bernoulli(F(3, 2), 1)
    with pytest.raises(InvalidParameter, match="zero or more"):
        exact.bernoulli_exp(F(-1), 1)
    with pytest.raises(InvalidParameter, match="`n` must be"):
        exact.uniform_below(0, 1)


SAMPLERS = {
    "discrete Laplace": lambda size: exact.discrete_laplace(F(1), size),
    "geometric": lambda size: exact.geometric(F(1), size),
    "rounded Gaussian": lambda size: exact.rounded_gaussian(F(1), size),
    "discrete Gaussian": lambda size: exact.discrete_gaussian(F(1), size),
    "categorical": lambda size: exact.categorical([1, 1], [F(0), F(1)], size),
    "coin": lambda size: exact.bernoulli(F(1, 3), size),
    "sure coin": lambda size: exact.bernoulli(F(1), size),
    "exponential coin": lambda size: exact.bernoulli_exp(F(1), size),
    "sure exponential coin": lambda size: exact.bernoulli_exp(F(0), size),
    "uniform": lambda size: exact.uniform_below(6, size),
    "long uniform": lambda size: exact.uniform_below(2**70, size),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_sizes_are_whole_numbers_from_zero_up(name):
    draw = SAMPLERS[name]
    assert draw(0).shape == (0,)
    assert draw(np.int64(3)).shape == (3,)
    for bad in (-3, 1.0, True, None):
        with pytest.raises(InvalidParameter, match="`size` must be"):
            draw(bad)


@pytest.mark.parametrize("family", FAMILIES)
def test_scales_must_be_positive(family):
    with pytest.raises(InvalidParameter, match="must be positive"):
        FAMILIES[family][0](F(0), 1)


def test_fixed_width_integers_do_not_wrap_around_in_parameters():
    def wrapped(top, bottom=1):
        return F(np.int64(top), np.int64(bottom))

    assert 300 < int(exact.bernoulli(wrapped(2, 3), 900).sum()) < 899
    assert exact.discrete_laplace(wrapped(2**40), 9).any()
    assert exact.rounded_gaussian(wrapped(2**60), 9).any()
    assert 0 < int(exact.bernoulli_exp(wrapped(1), 900).sum()) < 900
    assert set(exact.categorical([1, 1], [wrapped(0), wrapped(1)], 900)) == {0, 1}


def test_a_script_is_replayed_to_the_same_draws():
    script = [int(word) for word in SYSTEM.draw(16, 50)]
    first = exact.discrete_laplace(F(1), 40, source=ScriptedBits([*script, 1, 2, 3]))
    again = exact.discrete_laplace(F(1), 40, source=ScriptedBits([*script, 1, 2, 3]))
    assert first.tolist() == again.tolist()
