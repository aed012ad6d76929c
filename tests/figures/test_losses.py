"""The curves on the pictures are the losses' own numbers."""

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.figures import losses
from deniable.privacy import GaussianLoss, PureLoss


def lines(figure):
    (axes,) = figure.axes
    return {line.get_label(): line.get_xydata() for line in axes.lines}


def test_tradeoff_shows_the_loss():
    curves = lines(losses.tradeoff({"two coins": PureLoss(odds=3), "bell": GaussianLoss(1)}))
    for alpha, miss in curves["two coins"]:
        assert miss == pytest.approx(max(0, 1 - 3 * alpha, (1 - alpha) / 3), abs=1e-12)
    assert all(miss <= 1 - alpha for alpha, miss in curves["bell"])
    assert curves["bell"][0, 1] == 1


def test_deltas_fall_to_the_left_out_zero():
    curve = lines(losses.deltas({"one": PureLoss(1)}, up_to=2))["one"]
    known = [delta for epsilon, delta in curve if epsilon < 1]
    assert known == sorted(known, reverse=True)
    assert all(delta != delta for epsilon, delta in curve if epsilon >= 1)  # not drawn


def test_growth_is_below_the_plain_sum():
    figure = losses.growth({"tenth": PureLoss(0.1)}, delta=1e-6, counts=(1, 10, 100))
    (axes,) = figure.axes
    costs, sums = (line.get_ydata() for line in axes.lines[:2])
    assert all(costs <= sums * (1 + 1e-12))
    assert costs[2] < 0.6 * sums[2]


@pytest.mark.parametrize("picture", [losses.tradeoff, losses.deltas])
def test_nothing_to_draw_is_refused(picture):
    with pytest.raises(InvalidParameter, match="at least one loss"):
        picture({})


def test_a_sum_is_drawn_by_lines_that_stay_below_its_tradeoff():
    loss = (PureLoss(1) + GaussianLoss(0.5)) * 3
    (drawn,) = (
        line
        for line in losses.tradeoff({"sum": loss}).axes[0].lines
        if line.get_label() == "sum"
    )
    for alpha, missed in list(zip(*drawn.get_data(), strict=True))[10:-1:20]:
        exact = loss.tradeoff(float(alpha))
        assert missed <= exact + 1e-9
        assert missed >= exact - 0.002


@pytest.mark.parametrize("epsilon", [0.5, 3, 8])
def test_a_pure_loss_has_its_corner(epsilon):
    (axes,) = losses.tradeoff({"pure": PureLoss(epsilon)}).axes
    x, y = (np.asarray(axes.lines[1].get_data()[side]) for side in (0, 1))
    place = int(np.argmin(np.abs(x - y)))
    assert (x[place], y[place]) == pytest.approx((1 / (1 + np.exp(epsilon)),) * 2, rel=1e-9)
