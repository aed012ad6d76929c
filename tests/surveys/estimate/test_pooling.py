import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import RandomizedResponse, RevealingResponse
from deniable.surveys import pool

PHONE, PAPER = RandomizedResponse(odds=3), RandomizedResponse.warner(0.3)


def test_one_mode_is_its_own_estimate():
    alone = PHONE.estimate(counts=(600, 400))
    pooled = pool([(PHONE, (600, 400))])
    assert pooled.value == pytest.approx(alone.value)
    assert pooled.standard_error == pytest.approx(alone.standard_error)
    assert pooled.interval == pytest.approx(alone.interval, abs=0.005)
    assert pooled.homogeneity == 1


def test_modes_help_each_other():
    modes = [(PHONE, (600, 400)), (PAPER, (420, 580))]
    both = pool(modes)
    assert both.value == pytest.approx(0.3, abs=1e-6)
    assert both.standard_error < min(pool([mode]).standard_error for mode in modes)
    assert both.respondents == 2000
    assert both.homogeneity > 0.9
    apart = pool([(PHONE, (600, 400)), (PAPER, (580, 420))])
    assert apart.homogeneity < 1e-9


def test_the_likeliest_is_found_and_covers():
    """In 400 surveys of two modes."""
    hits = 0
    answers = np.arange(100_000) % 10 < 2
    for some in answers.reshape(400, 250):
        modes = [
            (design, design.aggregate(design.randomize(some))) for design in (PHONE, PAPER)
        ]
        low, high = pool(modes).interval
        hits += low <= some.mean() <= high
    assert hits >= 355  # 380 expected; sampling noise is absent here, so rather more


def test_the_ends():
    assert pool([(PHONE, (100, 0))]).value == 0
    assert pool([(PHONE, (0, 100))]).value == 1
    assert pool([(RevealingResponse.triangular(0.25), (75, 25))]).value == pytest.approx(0)
    with pytest.raises(InvalidParameter, match="one or more pairs"):
        pool([])
