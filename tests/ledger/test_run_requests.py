"""What a run is charged; and a replay finds runs that were not made as they are recorded."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.errors import BudgetExhausted
from deniable.ledger import MemoryLedger
from deniable.ledger.run_requests import RunReplay, RunRequest
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.privacy import ApproximateLoss, ConcentratedLoss, GaussianLoss, PureLoss
from tests.ledger.contract import plan
from tests.ledger.test_charges import bell

QUESTION = {"plan_hash": "f00d", "version": "", "analyst": None, "part": ()}
QUESTION |= {"fresh": True, "question_id": None}


def test_a_run_of_plans_keeps_every_limit():
    """A step that costs no more epsilon, but more rho, is refused: the budget adds up both."""
    policy = Policy([Table("data")], epsilon=4, delta=1e-5, filters=["pure", "zcdp", "gdp"])
    ledger = MemoryLedger(terms=Terms.from_policy(policy))
    halves = replace(plan(1), blocks=2 * (replace(plan(0.5).blocks[0]),))
    with ledger.ask_run((halves,), **QUESTION) as run:
        with pytest.raises(BudgetExhausted):
            run.step(plan(1))
        run.step(halves)
        run.settle()
    ledger.verify()


def test_a_run_costs_what_any_steps_in_its_unit_may_cost():
    """Laplace noise and Gaussian noise compose to less than the square of mu that they fill."""
    mixed = GaussianLoss(Fraction(1, 10)) + PureLoss(Fraction(1, 10))
    request = RunRequest.of_loss(mixed, tables=("data",), delta=1e-6)
    (limit,) = request.limits.values()
    worst = GaussianLoss(mu_squared=limit.amount)
    assert request.epsilon >= Fraction(worst.epsilon(1e-6)) > Fraction(mixed.epsilon(1e-6))


def recorded(loss=None, **options):
    """The entries of a run with two steps."""
    loss = loss or ApproximateLoss(1, 1e-6)
    ledger = MemoryLedger(epsilon=9, delta=1e-5)
    run = ledger.reserve_run(loss, **options)
    run.step(plan(0.125, 1e-7))
    run.keep(run.step(plan(0.25)), "{}", plan_hash="a", version="")
    run.settle()
    ledger.verify()
    return [json.loads(row.body) for row in ledger._journal.read_all()[0]][1:]


def fault(bodies):
    replay = RunReplay()
    return next(filter(None, (replay.add(i, body) for i, body in enumerate(bodies, 1))), None)


def _above(bodies):
    for body in bodies[1:3]:
        body["charge"]["pure"] = ["3/4", "0"]
        body["plan"] |= {"epsilon": "3/4", "delta": "0"}
    bodies[1]["spent"]["pure"], bodies[2]["spent"]["pure"] = ["3/4", "0"], ["3/2", "0"]


def _cheap(bodies):
    bodies[2]["charge"]["pure"] = ["1/8", "0"]
    bodies[2]["spent"]["pure"] = ["1/4", "1/10000000"]


def _refund(bodies):
    bodies[2]["charge"]["pure"] = ["-1/8", "0"]
    bodies[2]["plan"]["epsilon"] = "-1/8"
    bodies[2]["spent"]["pure"] = ["0", "1/10000000"]


def _wrong_sum(bodies):
    bodies[2]["spent"]["pure"] = ["1/4", "1/10000000"]


FORGERIES = {
    "above": (_above, "passes the limit"),
    "cheap": (_cheap, "what its plan costs"),
    "refund": (_refund, "refunds a step"),
    "sum": (_wrong_sum, "passes the limit"),
    "skipped": (lambda bodies: bodies.pop(1), "next step"),
    "late": (lambda bodies: bodies.append(bodies.pop(3)), "no open run"),
    "answer": (lambda bodies: bodies[3].update(step=3), "answers a step"),
    "filter": (lambda bodies: bodies[1]["charge"].update(zcdp=None), "next step"),
    "limits": (
        lambda bodies: bodies[0]["run"]["limits"].update(pure=["2", "0"]),
        "limits above its price",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_run_is_found(name):
    forge, told = FORGERIES[name]
    bodies = recorded()
    assert fault(bodies) is None
    forge(bodies)
    assert told in fault(bodies)


@pytest.mark.parametrize(
    ("loss", "options"),
    [
        (ApproximateLoss(1, 1e-6), {"filters": ("pure", "zcdp", "gdp")}),
        (ConcentratedLoss(0.1) + ApproximateLoss(0, 1e-6), {"delta": 1e-5}),
        (GaussianLoss(1) + ApproximateLoss(0, 1e-6), {"delta": 1e-5}),
    ],
    ids=["union", "zcdp", "gdp"],
)
def test_limits_above_the_price_are_found_in_every_unit(loss, options):
    bodies = recorded(loss, **options)
    kind = list(bodies[0]["run"]["limits"])[-1]
    bodies[0]["run"]["limits"][kind][0] = "50"
    assert fault(bodies) == "gives a run limits above its price"


def test_a_run_of_gaussian_plans_is_charged_as_such():
    plans = [bell(Fraction(1, 4), Fraction(1, 10**9))] * 2
    request = RunRequest.of_plans(plans, ("pure", "gdp"))
    assert request.charge(("pure", "gdp"))["gdp"].amount == 2 * plans[0].loss.mu_squared
