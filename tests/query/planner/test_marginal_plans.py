"""Plans of marginals: their sensitivity, and that the kernel agrees with no smaller one."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import PlanRefused
from deniable.mechanisms import Gaussian
from deniable.query.planner.marginal_plans import MarginalPlanner
from deniable.release.certificate.sensitivity_checks import check_sensitivities
from deniable.synth.domain.column_cells import cells_of

FRAME = pa.table({"p": [1, 1, 2], "ward": ["A", "B", "A"], "old": [True, False, True]})
PLACES = {(): "rows", (0,): "rows by ward", (0, 1): "rows by ward, old"}


def session(neighbors="add-remove", most=5):
    limits = {"unit": "p", "max_rows_per_unit_per_group": most} if most else {}
    keys = {"ward": ["A", "B"]}
    return dp.protect(
        FRAME, name="t", keys=keys, epsilon=9, delta=1e-5, neighbors=neighbors, **limits
    )


def plan_of(opened, places=(0, 1)):
    table = opened.policy.tables["t"]
    counted = [cells_of(table, name).counted for name in ("ward", "old")]
    planner = MarginalPlanner(opened.policy, table, counted)
    price = {"mu_squared": Fraction(1, 2), "delta": Fraction(1, 10**6)}
    return planner.plan(places, **price, confidence=Fraction(19, 20))


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("most", [None, 5])
def test_all_rows_of_a_unit_may_be_in_one_cell(places, neighbors, most):
    with session(neighbors, most) as opened:
        plan = plan_of(opened, places)
        assert plan.blocks[0].about == PLACES[places]
        square = plan.blocks[0].mechanism.sensitivity ** 2
        exact = (most or 1) ** 2 * (1 if neighbors == "add-remove" else 2)
        assert exact <= square < exact * (1 + Fraction(1, 10**9))
        assert plan.blocks[0].mechanism.loss.mu_squared == Fraction(1, 2)
        assert "moves" in opened.describe_check(plan)
        check_sensitivities(plan)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
def test_the_kernel_refuses_noise_for_the_root_of_the_rows(neighbors):
    with session(neighbors) as opened:
        plan = plan_of(opened)
        block = plan.blocks[0]
        least = block.mechanism.sensitivity
        for declared in (least * Fraction(99, 100), Fraction(9, 4)):
            noise = Gaussian(variance=block.mechanism.variance, sensitivity=declared)
            small = replace(plan, blocks=(replace(block, mechanism=noise),))
            with pytest.raises(PlanRefused, match="declares"):
                opened.describe_check(small)


def test_the_price_is_the_epsilon_at_delta():
    with session() as opened:
        plan = plan_of(opened)
        assert plan.loss.fits(dp.ApproximateLoss(plan.epsilon, plan.delta))
        assert not plan.loss.fits(dp.ApproximateLoss(plan.epsilon * Fraction(99, 100), 1e-6))
