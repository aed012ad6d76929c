"""Runs: no adaptive analyst gets past one, and a killed one stays charged, once."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.ledger import MemoryLedger
from deniable.ledger.accounts import charge_from_json
from deniable.ledger.chained_ledger import find_stream, reserve_stream
from deniable.ledger.run_requests import RunRequest, step_charge
from deniable.ledger.terms import Terms
from deniable.policy import Policy, Table
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    PureLoss,
    RenyiLoss,
)
from tests.ledger.contract import plan
from tests.ledger.racing import run
from tests.ledger.test_charges import bell

FILTERS = ("pure", "zcdp", "gdp")
SHARE = ApproximateLoss(0, 1e-7)
LOSSES = [
    (PureLoss(Fraction(1, 4)), {}),
    (ApproximateLoss(Fraction(1, 2), 1e-7), {}),
    (ApproximateLoss(Fraction(1, 4), 1e-6), {"filters": FILTERS}),
    (ConcentratedLoss(Fraction(1, 100)) + SHARE, {"delta": 1e-6}),
    (GaussianLoss(Fraction(1, 8)) + SHARE, {"delta": 1e-6}),
    (RenyiLoss({8: Fraction(1, 20)}) + SHARE, {"delta": 1e-6}),
]
STEPS = [plan(Fraction(1, 2**i)) for i in range(2, 9)]
STEPS += [plan(Fraction(1, 2**i), 10.0**-j) for i in range(3, 9) for j in (7, 8, 9)]
STEPS += [bell(Fraction(1, 2**i), Fraction(1, 10**9)) for i in range(2, 9)]


def test_no_adaptive_analyst_gets_past_a_run_or_the_budget(size):
    """Each opens runs of random losses, and takes steps that depend on what was granted.

    In the end all steps of each run, added up again from the plans, keep one of its limits (or
    its only one); and all that the ledger charged keeps one of the budget's.
    """
    analysts = size(small=10, full=1_000, what="analysts who adapt within runs")
    generator = np.random.default_rng(16)
    policy = Policy([Table("data")], epsilon=2, delta=1e-5, filters=FILTERS)
    refused, granted, single = {"run": 0, "step": 0}, 0, 0
    for _ in range(analysts):
        ledger = MemoryLedger(terms=Terms.from_policy(policy))
        bold = int(generator.integers(len(STEPS)))
        for _ in range(12):
            loss, options = LOSSES[int(generator.integers(len(LOSSES)))]
            try:
                opened = ledger.reserve_run(loss, **options)
            except BudgetExhausted:
                refused["run"] += 1
                continue
            taken = []
            for _ in range(int(generator.integers(1, 30))):
                try:
                    opened.step(STEPS[bold])
                    taken.append(STEPS[bold])
                    bold = max(0, bold - int(generator.integers(3)))
                except BudgetExhausted:
                    refused["step"] += 1
                    bold = int(generator.integers(len(STEPS)))
            opened.settle() if generator.random() < 0.8 else opened.fail("beef")
            granted += len(taken)
            single += _check(RunRequest.of_loss(loss, tables=("data",), **options), taken)
        ledger.verify()
        usages = [usage for usage in ledger.filter_usages() if usage.spent is not None]
        kept = (
            usage.spent_delta <= usage.limit_delta and usage.spent <= usage.cap
            for usage in usages
        )
        assert any(kept)
    assert refused["run"] > analysts  # they do use what there is
    assert refused["step"] > analysts
    assert granted > 10 * analysts
    assert single > 0  # some runs were kept by one of their sums only


def _check(request, taken):
    """All sums of a run, or at least one of several; whether some of several were passed."""
    limits = request.limits
    kept = []
    for kind, limit in limits.items():
        charges = [step_charge(each, (kind,))[kind] for each in taken]
        kept.append(
            sum(each.amount for each in charges) <= limit.amount
            and sum(each.slack for each in charges) <= limit.slack
        )
    assert any(kept)
    assert len(limits) > 1 or all(kept)
    return not all(kept)


def test_a_killed_run_stays_charged_and_leaves_no_second_charge(place, size, tmp_path):
    kills = size(small=6, full=500, what="processes killed within their runs, on each store")
    job = partial(run, module="tests.ledger.asking", seconds=1500)
    for turn in range(max(1, kills // 25)):
        log = tmp_path / f"noted {turn}"
        log.touch()
        each = min(kills, 25)
        report = job("kill_runs", **place(), kills=each, log=log)
        assert report["kills"] == each
        assert report["lost"] == 0  # no step without its entry
        assert report["charged twice"] == 0
        assert Fraction(report["spent"]) == report["runs"] * Fraction(1, 50)  # once each
        assert report["runs"] > 0


def test_the_charge_of_a_run_covers_its_limits():
    """A run of plans is charged, in every filter, at least the sum that its steps may reach."""
    plans = [plan(Fraction(1, 3)), bell(Fraction(1, 7), Fraction(1, 10**9)), plan(0.1, 1e-9)]
    request = RunRequest.of_plans(plans, FILTERS)
    charge = request.charge(FILTERS)
    assert (request.epsilon, request.delta) == (charge["pure"].amount, charge["pure"].slack)
    limits = charge_from_json(request.to_json()["limits"])
    for kind in FILTERS:
        parts = [step_charge(each, (kind,))[kind] for each in plans]
        assert limits[kind].amount == sum(each.amount for each in parts) <= charge[kind].amount
        assert limits[kind].slack == sum(each.slack for each in parts) <= charge[kind].slack


def test_a_stream_is_charged_once():
    """The first step spends the whole run, later ones nothing, and it is found again."""
    ledger = MemoryLedger(epsilon=1, delta=1e-6)
    assert find_stream(ledger, "visits") is None
    run = reserve_stream(ledger, "visits", GaussianLoss(Fraction(1, 10)), delta=1e-7)
    left = ledger.remaining
    for step in range(1, 20):
        stream = find_stream(ledger, "visits")
        assert (stream.steps, stream.state) == (step - 1, "" if step == 1 else f"{step - 1}")
        assert stream.price == run.price
        assert stream.number == run.number
        assert stream.advance(f"{step}") == step
    assert find_stream(ledger, "visits").remaining[0].amount == 0
    with pytest.raises(InvalidParameter, match="is already in the ledger"):
        run.advance("elsewhere")
    with pytest.raises(InvalidParameter, match="was charged before"):
        reserve_stream(ledger, "visits", PureLoss(Fraction(1, 100)))
    with pytest.raises(BudgetExhausted):
        find_stream(ledger, "visits").step(bell(Fraction(1, 100), Fraction(1, 10**9)))
    assert ledger.remaining == left
    assert ledger.verify()
    assert find_stream(ledger, "visits", analyst="ann") is None
