"""One question, asked by many processes at once: one answer, and it is paid for once."""

from functools import partial

import pytest

from deniable.errors import LedgerUnavailable
from deniable.ledger.durable_ledger import DurableLedger
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from tests.ledger.contract import answer_to, plan
from tests.ledger.racing import run

run_job = partial(run, module="tests.ledger.asking", seconds=1500)


def test_processes_with_one_question_get_one_answer_and_pay_once(place, size):
    """If the first asker is killed, its charge stays; the next one pays, and the others wait
    for that answer."""
    rounds = size(small=1, full=50, what="rounds of processes with one question, on each store")
    for _ in range(rounds):
        report = run_job("both", **place())
        once = {"answers": 6, "different": 1, "states": ["settled"], "spent": "1"}
        states = ["settled", "failed", "settled"]
        assert report["asked"] == once
        assert report["killed"] == {
            "answers": 3,
            "different": 1,
            "states": states,
            "spent": "3",
        }


def test_the_mark_is_raised_before_a_lost_reservation_is_used(tmp_path, monkeypatch):
    """The charge was committed, but the mark was not raised: a retry raises it first."""
    ledger = DurableLedger(tmp_path / "l.sqlite", Terms.from_budget(Budget(2)))
    mark = type(ledger._journal.mark)

    def fail(*_):
        raise LedgerUnavailable("The mark cannot be written.")

    with monkeypatch.context() as patch:
        patch.setattr(mark, "raise_to", fail)
        for _ in range(2):
            with pytest.raises(LedgerUnavailable):
                answer_to(ledger, plan(1), plan_hash="f00d")
    with ledger.ask(plan(1), plan_hash="f00d") as entry:
        assert ledger._journal.mark.read().number == entry.number
        ledger.settle(entry, "{}")
    assert ledger.remaining.epsilon == 1
    ledger.close()


def test_a_question_leaves_no_file_behind(tmp_path):
    ledger = DurableLedger(tmp_path / "l.sqlite", Terms.from_budget(Budget(2)))
    before = sorted(tmp_path.iterdir())
    with ledger.ask(plan(1), plan_hash="f00d") as entry:
        assert len(list(tmp_path.iterdir())) == len(before) + 1
        ledger.settle(entry, "{}")
    assert sorted(tmp_path.iterdir()) == before
    ledger.close()
