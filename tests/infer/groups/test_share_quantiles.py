import numpy as np
import pytest
from scipy.stats import hypergeom

from deniable.infer.groups.share_quantiles import share_quantiles, share_tails


@pytest.mark.parametrize("fraction", [0.05, 0.5, 0.9, 0.98])
@pytest.mark.parametrize("having", [1, 2, 3, 5, 12, 100, 500, 900, 996, 999])
def test_hypergeometric_tails_are_as_said(fraction, having):
    """Exactly, over all that a sample of 1,000 persons may hold."""
    units = round(1_000 * fraction)
    drawn = np.arange(max(0, units + having - 1_000), min(units, having) + 1)
    share = np.full(drawn.shape, having / 1_000)
    down, up = share_quantiles(np.full(drawn.shape, float(units)), share, 0.025, fraction)
    off, chances = drawn - units * share, hypergeom(1_000, having, units).pmf(drawn)
    assert chances[off < -down - 1e-9].sum() <= 0.0275
    assert chances[off > up + 1e-9].sum() <= 0.0275
    spread = hypergeom(1_000, having, units).std()
    assert down.max() <= 2.1 * spread + 1.5  # and not much wider than that
    assert up.max() <= 2.1 * spread + 1.5


@pytest.mark.parametrize("units", [31, 50, 60, 80, 90, 95, 99])
def test_tails_of_a_small_population_are_as_said(units):
    """Of most of 100 persons, the few who were not drawn decide how far a share may be off."""
    worst = 0.0
    for having in range(1, 100):
        drawn = np.arange(max(0, units + having - 100), min(units, having) + 1)
        share = np.full(drawn.shape, having / 100)
        down, up = share_quantiles(
            np.full(drawn.shape, float(units)), share, 0.025, units / 100
        )
        off, chances = drawn - units * share, hypergeom(100, having, units).pmf(drawn)
        for outside in (off < -down - 1e-9, off > up + 1e-9):
            worst = max(worst, chances[outside].sum())
    assert worst <= 0.031


@pytest.mark.parametrize("fraction", [0.0, 0.05, 0.3, 0.6, 0.97])
@pytest.mark.parametrize("having", [1, 5, 300, 992])
def test_tails_belong_to_the_quantiles(fraction, having):
    """What a quantile excludes has a smaller tail, except for the limits of quantiles."""
    units = max(round(1_000 * fraction), 500 if fraction == 0 else 0)
    rows = np.full(200, float(units))
    share = np.full(200, having / 1_000)
    spread = np.sqrt(units * having * (1_000 - having)) / 1_000
    off = np.linspace(-3 * spread - 1, 3 * spread + 1, 200)
    below, above = share_tails(rows, share, off, fraction)
    for tail in (0.3, 0.025):
        down, up = share_quantiles(rows, share, tail, fraction)
        assert (above >= tail - 1e-6)[(off > 0) & (off < up - 1.001)].all()
        assert (above < tail)[off > up + 1e-6].all()
        assert (below >= tail - 1e-6)[(off < 0) & (off > -down + 1.001)].all()
        assert (below < tail)[off < -down - 1e-6].all()


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.6, 0.97])
@pytest.mark.parametrize("having", [1, 2, 5, 40, 960, 997])
def test_tails_are_near_those_of_the_sample(fraction, having):
    units = round(1_000 * fraction)
    drawn = np.arange(max(0, units + having - 1_000), min(units, having) + 1)
    rows, share = np.full(drawn.shape, float(units)), np.full(drawn.shape, having / 1_000)
    below, above = share_tails(rows, share, drawn - units * share, fraction)
    law = hypergeom(1_000, having, units)
    assert np.abs(below - law.cdf(drawn)).max() < 0.012
    assert np.abs(above - law.sf(drawn - 1)).max() < 0.012


def test_a_whole_population_is_never_off():
    off = np.array([-1.0, 0.0, 1.0])
    below, above = share_tails(np.full(3, 10.0), np.full(3, 0.5), off, 1.0)
    assert (below.tolist(), above.tolist()) == ([0, 1, 1], [1, 1, 0])
