"""Runs through a session: one charge, certified steps, and what happens when one fails."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import (
    BudgetExhausted,
    EngineFailed,
    InvalidCertificate,
    InvalidParameter,
    LedgerBroken,
)
from deniable.release.certificate.certificate import RunStep, signed_message

COUNT = "SELECT COUNT(*) AS n FROM data"
SUM = "SELECT SUM(cost) AS total FROM data"
COSTS = np.random.default_rng(5).lognormal(3, 1, 5000)


@pytest.fixture
def costs():
    frame = pa.table({"cost": COSTS, "ward": ["A", "B"] * 2500})
    with dp.protect(frame, epsilon=4, delta=1e-5, expected_rows=5000) as opened:
        yield opened


def test_steps_depend_on_answers_and_their_certificates_state_the_run(costs):
    with costs.reserve_run(dp.ApproximateLoss(1, 1e-6)) as run:
        first = run.sql(COUNT, epsilon=0.25)
        assert costs.remaining.epsilon == 3
        sql = f"SELECT ward, COUNT(*) AS n FROM data GROUP BY ward HAVING n > {first.value / 4}"
        second = run.sql(sql, epsilon=0.5, delta=1e-6)
        with pytest.raises(BudgetExhausted, match=r"epsilon 0\.25 is left of the run"):
            run.sql(COUNT, epsilon=0.5)
        again = run.sql(COUNT, epsilon=0.25)  # with fresh noise
    assert [str(limit) for limit in run.remaining] == ["epsilon 0"]
    (entry,) = costs.ledger.entries
    for step, answer in enumerate((first, second, again), 1):
        assert answer.certificate.statement["ledger"]["run"] == {
            "step": step,
            "epsilon": "1",
            "delta": "1/1000000",
            "question": None,
        }
        told = dp.verify(answer.to_json()).checks[7]
        assert told.startswith(
            f"charged as step {step} of a run that costs epsilon 1 and delta"
        )
        assert f"entry {entry.number} of the ledger" in told
    assert (entry.state, costs.remaining.epsilon) == ("settled", 3)
    assert not costs.sql(COUNT, epsilon=0.5).repeated
    kept = costs.sql(COUNT, epsilon=0.25)  # the latest answer of the run
    assert (kept.repeated, kept.value) == (True, again.value)
    costs.ledger.verify()
    with pytest.raises(InvalidParameter, match="already settled"):
        run._reserved.settle()


def test_a_run_that_is_cheaper_than_its_release_is_no_run(costs):
    with costs.reserve_run(dp.PureLoss(1)) as run:
        answer = run.sql(COUNT, epsilon=0.5)
    certificate = answer.certificate
    for change in (
        {"epsilon": "1/4"},
        {"step": 0},
        {"step": True},
        {"more": 1},
        {"delta": "0.0"},
    ):
        place = certificate.statement["ledger"]
        changed = {**certificate.statement, "ledger": place | {"run": place["run"] | change}}
        signature = costs.ledger.sign(signed_message(changed))
        forged = replace(certificate, statement=changed, signature=signature)
        with pytest.raises(InvalidCertificate, match=r"`ledger`|more than the run"):
            dp.verify(forged.to_json())
    stated = RunStep(2, Fraction(1), Fraction(0), None)
    assert RunStep.from_json(stated.to_json()) == stated


def test_a_step_that_fails_ends_its_run_and_is_not_refunded(costs, monkeypatch):
    opened = costs.reserve_run(dp.PureLoss(1))
    run = opened.__enter__()
    run.sql(COUNT, epsilon=0.25)
    monkeypatch.setattr(costs._engine, "_run_statement", None)
    with pytest.raises(EngineFailed) as failure:
        run.sql(COUNT, epsilon=0.5)
    opened.__exit__(None, None, None)
    (entry,) = costs.ledger.entries
    assert (entry.state, entry.reference) == ("failed", failure.value.reference)
    assert costs.remaining.epsilon == 3
    with pytest.raises(InvalidParameter, match="already failed"):
        run.sql(COUNT, epsilon=0.1)
    with pytest.raises(KeyError), costs.reserve_run(dp.PureLoss(1)):
        raise KeyError
    assert [charge.reference for charge in costs.ledger.entries][1:] == ["interrupted"]
    costs.ledger.verify()


def test_a_run_belongs_to_the_rows_of_its_session(costs):
    wards = costs.partition("ward", ["A", "B"])
    for ward in wards.values():
        with ward.reserve_run(dp.PureLoss(1)) as run:
            run.sql(COUNT, epsilon=1)
            with pytest.raises(InvalidParameter, match="another policy"):
                run.release(costs.plan(COUNT, epsilon=0.5))
    assert costs.remaining.epsilon == 3  # the dearer part


def test_six_threads_that_find_bounds_pay_once_and_get_one_answer(costs):
    ready = threading.Barrier(6)

    def ask(_):
        ready.wait()
        return costs.sql(SUM, epsilon=1, bounds="find")

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))
    assert len({answer.value for answer in answers}) == 1
    assert [entry.epsilon for entry in costs.ledger.entries] == [1]
    assert costs.remaining.epsilon == 3


@pytest.mark.parametrize("good", [0, 1])
def test_bounds_that_were_not_used_leave_one_charge(costs, good, monkeypatch):
    """The engine fails in the first step, or in the second."""
    run, calls = type(costs)._run, []

    def fail(self, plan, kept=None):
        calls.append(plan)
        return run(self, plan) if len(calls) <= good else EngineFailed("beef")

    monkeypatch.setattr(type(costs), "_run", fail)
    options = {"epsilon": 1, "bounds": "find", "question_id": "once"}
    for _ in range(3):
        with pytest.raises(EngineFailed, match="beef"):
            costs.sql(SUM, **options)
    assert len(calls) == good + 1
    assert [(entry.epsilon, entry.state) for entry in costs.ledger.entries] == [(1, "failed")]
    assert costs.remaining.epsilon == 3


def test_a_question_id_of_found_bounds_gets_its_own_answer_again(costs):
    options = {"epsilon": 1, "bounds": "find", "fresh": True}
    answers = [costs.sql(SUM, **options, question_id=name).value for name in "abab"]
    assert answers[:2] == answers[2:]
    assert answers[0] != answers[1]
    assert costs.remaining.epsilon == 2


def test_a_kept_run_that_was_filed_under_another_question_is_not_handed_out(costs):
    first = costs.sql(SUM, epsilon=1, bounds="find")
    plans = (costs.plan(COUNT, epsilon=0.1),)
    with costs.run_like(plans) as run:
        run.release(plans[0])
    with costs.run_like(plans) as again:
        again._question = first.certificate.statement["ledger"]["run"]["question"]
        with pytest.raises(LedgerBroken, match="another run"):
            again.release(plans[0])
        with pytest.raises(LedgerBroken, match="kept answer"):
            again.release(plans[0])  # there is no second one


def test_a_second_step_that_does_not_fit_is_answered_all_the_same(costs, monkeypatch):
    """The first step is paid for, so an answer must follow: within the widest bounds."""
    plan_under, calls = type(costs).plan_under, []

    def dearer(self, policy, question, options):
        if options.get("epsilon") == Fraction(4, 5):
            calls.append(question)
        factor = 2 if len(calls) > 1 else 1
        changed = {**options, "epsilon": factor * options["epsilon"]}
        return plan_under(self, policy, question, changed)

    monkeypatch.setattr(type(costs), "plan_under", dearer)
    answer = costs.sql(SUM, epsilon=1, bounds="find")
    assert len(calls) == 2
    assert answer.plan.epsilon == Fraction(4, 5)
    assert "the widest bounds are used" in str(answer)
    assert costs.remaining.epsilon == 3
