"""The contract that every ledger inherits, and plans to charge it with."""

import copy
import datetime
import json
import threading
from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.errors import (
    BudgetExhausted,
    EngineFailed,
    InvalidParameter,
    InvalidStoppingRule,
    LedgerBroken,
    LedgerUnavailable,
    MissingRelation,
    QuestionPending,
)
from deniable.ledger import Entry, questions
from deniable.ledger.accounts import Amount
from deniable.ledger.replay import replay_ledger
from deniable.ledger.terms import Terms
from deniable.mechanisms import Gaussian, Laplace, Thresholding
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget, Schedule
from deniable.privacy import (
    ApproximateLoss,
    ConcentratedLoss,
    GaussianLoss,
    LossDistribution,
    PureLoss,
    RenyiLoss,
    UnionFilter,
)
from deniable.query.plan.plan import (
    Block,
    Feature,
    Output,
    Plan,
)


def plan(epsilon, delta=0, /, **changes):
    """A plan that counts rows at this price; a delta pays for private keys."""
    epsilon, delta = Fraction(str(epsilon)), Fraction(str(delta))
    share = epsilon / 2 if delta else epsilon
    default = Plan(
        table="data",
        unit=None,
        neighbors="add-remove",
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=1,
        keys=(),
        blocks=(Block(("n",), "rows", Laplace(epsilon=share)),),
        thresholding=Thresholding(epsilon=share, delta=delta) if delta else None,
        outputs=(
            Output("n", "COUNT(*)", Feature("n", 0), Fraction(0), None, True, None, False),
        ),
        having=None,
        order=(),
        limit=None,
        other=False,
        nonnegative=False,
        confidence=Fraction(19, 20),
        epsilon=epsilon,
        delta=delta,
        engine_sql='SELECT COUNT(*) AS n FROM "data"',
        notes=(),
    )
    return replace(default, **changes)


def answer_to(ledger, question, **how):
    """The kept answer to a question."""
    with ledger.ask(question, **how) as outcome:
        return outcome.record


# Losses of runs, and how many steps of epsilon 0.1 and delta 1e-9 fit each.
SHARE = ApproximateLoss(0, 1e-6)
RUNS = {
    "epsilons": (ApproximateLoss(1, 1e-6), 10),
    "deltas": (ApproximateLoss(1, 3e-9), 3),
    "rhos": (ConcentratedLoss(0.02) + SHARE, 8),
    "squares of mu": (GaussianLoss(0.4) + SHARE, 20),
    "divergences": (RenyiLoss({4: 0.1}) + SHARE, 10),
}


class LedgerContract:
    """Subclasses make ledgers; these tests do the work."""

    rounds = 20  # of races between threads

    def make(self, terms, **clock):
        raise NotImplementedError

    def ledger(self, epsilon, delta=0):
        self.last = self.make(Terms.from_budget(Budget(epsilon, delta)))
        return self.last

    def test_tenths_fill_one_exactly(self):
        ledger = self.ledger(1)
        for _ in range(10):
            ledger.settle(ledger.reserve(plan(0.1)))
        assert ledger.remaining.epsilon == 0
        with pytest.raises(BudgetExhausted):
            ledger.reserve(plan("1e-12"))

    def test_delta_is_spent_too(self):
        ledger = self.ledger(10, 1e-6)
        ledger.settle(ledger.reserve(plan(1, 9e-7)))
        assert ledger.remaining.delta == Fraction(1, 10**7)
        with pytest.raises(BudgetExhausted, match="declare the keys"):
            ledger.reserve(plan(1, 2e-7))
        ledger.reserve(plan(1, 1e-7))
        assert ledger.remaining.delta == 0

    def test_a_refusal_says_what_is_left_what_was_asked_and_how_to_go_on(self):
        ledger = self.ledger(1)
        ledger.reserve(plan(0.75))
        with pytest.raises(BudgetExhausted) as caught:
            ledger.reserve(plan(0.5))
        said = str(caught.value)
        assert "costs epsilon 0.5" in said
        assert "epsilon 0.25, delta 0 are left" in said
        assert "epsilon=0.25" in said
        assert "2 times as wide" in said
        assert "Nothing was spent" in said

    def test_what_a_refusal_offers_is_accepted(self):
        ledger = self.ledger(Fraction(1, 3))
        with pytest.raises(BudgetExhausted) as caught:
            ledger.reserve(plan(1))
        offered = str(caught.value).split("epsilon=")[1].split(":")[0]
        ledger.reserve(plan(offered))

    def test_a_refusal_costs_nothing_and_smaller_plans_still_fit(self):
        ledger = self.ledger(1)
        with pytest.raises(BudgetExhausted):
            ledger.reserve(plan(2))
        assert ledger.remaining.epsilon == 1
        ledger.reserve(plan(1))

    def test_a_failure_is_not_refunded(self):
        ledger = self.ledger(1)
        ledger.fail(ledger.reserve(plan(0.6)), "beef")
        assert ledger.remaining.epsilon == Fraction(2, 5)

    def test_the_charge_stands_from_the_moment_of_reserving(self):
        ledger = self.ledger(1)
        entry = ledger.reserve(plan(0.6))
        assert ledger.remaining.epsilon == Fraction(2, 5)
        ledger.settle(entry)
        assert ledger.remaining.epsilon == Fraction(2, 5)

    def test_an_entry_ends_once(self):
        ledger = self.ledger(1)
        entry = ledger.reserve(plan(0.1))
        ledger.settle(entry)
        with pytest.raises(InvalidParameter, match="already settled"):
            ledger.fail(entry, "beef")

    @pytest.mark.parametrize(
        "liar",
        [
            plan(1, blocks=(Block(("n",), "rows", Laplace(epsilon=2)),)),
            plan(1, thresholding=Thresholding(epsilon=Fraction(1, 10), delta=1e-9)),
            plan(1, 1e-6, delta=Fraction(1, 10**7)),
            plan(1, epsilon=Fraction(-1)),
        ],
        ids=["epsilon", "keys for nothing", "delta", "negative"],
    )
    def test_a_plan_that_understates_its_price_is_refused(self, liar):
        ledger = self.ledger(10, 1e-3)
        with pytest.raises(InvalidParameter, match=r"cost"):
            ledger.reserve(liar)
        assert ledger.remaining.epsilon == 10

    def test_one_liar_in_a_batch_is_refused_with_it(self):
        ledger = self.ledger(10)
        liar = plan(1, blocks=(Block(("n",), "rows", Laplace(epsilon=2)),))
        for plans in ([plan(1), liar], [liar, plan(1)], [plan(1), plan(1), liar, plan(1)]):
            with pytest.raises(InvalidParameter, match="costs more"):
                ledger.reserve_all(plans)
        assert ledger.entries == ()

    def test_noise_that_cannot_be_drawn_is_refused_before_the_charge(self):
        ledger = self.ledger(10)
        wide = Laplace(epsilon=1, sensitivity=2**60)
        with pytest.raises(InvalidParameter, match="step"):
            ledger.reserve(plan(1, blocks=(Block(("n",), "rows", wide),)))
        assert ledger.remaining.epsilon == 10

    def test_a_race_for_the_last_of_it(self):
        """Many at a barrier, room for a few: exactly those few succeed."""
        for _ in range(self.rounds):
            ledger = self.ledger(1)
            request = plan(0.1)
            barrier, done = threading.Barrier(16), []

            def run(ledger=ledger, request=request, barrier=barrier, done=done):
                barrier.wait()
                try:
                    ledger.settle(ledger.reserve(request))
                    done.append(True)
                except BudgetExhausted:
                    done.append(False)

            threads = [threading.Thread(target=run) for _ in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sum(done) == 10
            assert ledger.remaining.epsilon == 0

    def test_entries_tell_how_each_charge_ended(self):
        ledger = self.ledger(1)
        entry, other = ledger.reserve(plan(0.1)), ledger.reserve(plan(0.2))
        ledger.fail(entry, "beef")
        ledger.settle(other)
        ledger.reserve(plan(0.3))
        states = [
            (str(entry.epsilon), entry.state, entry.reference) for entry in ledger.entries
        ]
        assert states == [
            ("1/10", "failed", "beef"),
            ("1/5", "settled", None),
            ("3/10", "reserved", None),
        ]

    def test_what_does_not_exist_cannot_end(self):
        ledger = self.ledger(1)
        entry = ledger.reserve(plan(0.1))
        for number in (0, -1, 99):
            with pytest.raises(InvalidParameter, match="no entry"):
                ledger.settle(replace(entry, number=number))

    # Accounts

    def test_colluding_analysts_cannot_add_up(self):
        analysts = {"ann": Budget(1), "bob": Budget(1), "*": Budget(Fraction(1, 4))}
        ledger = self.make(
            Terms.from_policy(Policy([Table("data")], epsilon=1.5, analysts=analysts))
        )
        ledger.reserve(plan(1), analyst="ann")
        with pytest.raises(BudgetExhausted, match="left to analyst ann"):
            ledger.reserve(plan("0.01"), analyst="ann")
        with pytest.raises(BudgetExhausted) as caught:
            ledger.reserve(plan(1), analyst="bob")
        assert "analyst" not in str(caught.value)
        ledger.reserve(plan(0.25), analyst="bob")
        ledger.reserve(plan(0.25), analyst="somebody")
        assert ledger.remaining_for("ann").epsilon == 0
        assert ledger.remaining_for("bob").epsilon == 0  # the table has nothing left
        for nobody in (None, "", "*"):
            with pytest.raises(InvalidParameter, match="who asks"):
                ledger.reserve(plan("0.01"), analyst=nobody)

    def test_an_analyst_without_a_budget_gets_nothing(self):
        ledger = self.make(
            Terms.from_policy(Policy([Table("data")], epsilon=1, analysts={"a": Budget(1)}))
        )
        with pytest.raises(InvalidParameter, match="no budget"):
            ledger.reserve(plan(0.1), analyst="b")
        assert ledger.remaining.epsilon == 1

    def test_tables_of_one_unit_share_its_budget_and_may_have_less(self):
        tables = [
            Table("data"),
            Table("more", budget=Budget(Fraction(1, 2))),
            Table("staff", unit="Employee"),
            Table("towns", public=True),
        ]
        policy = Policy(tables, epsilon=1, units={"employee": Budget(2)})
        ledger = self.make(Terms.from_policy(policy))
        ledger.reserve(plan(0.5, table="more"))
        with pytest.raises(BudgetExhausted, match="for table more"):
            ledger.reserve(plan(0.1, table="more"))
        ledger.reserve(plan(0.5))
        for used in ("data", "more"):
            with pytest.raises(BudgetExhausted):
                ledger.reserve(plan("0.001", table=used))
        ledger.reserve(plan(2, table="staff"))
        with pytest.raises(BudgetExhausted, match="for each employee"):
            ledger.reserve(plan("0.001", table="staff"))
        ledger.reserve(plan(7, table="towns"))  # protects nobody
        assert ledger.remaining_for(tables=["staff"]).epsilon == 0

    def test_a_plan_about_several_tables_is_charged_to_each(self, monkeypatch):
        monkeypatch.setattr(Plan, "tables", property(lambda self: tuple(self.table.split("+"))))
        tables = [Table("a", budget=Budget(1)), Table("b", budget=Budget(1))]
        ledger = self.make(Terms.from_policy(Policy(tables, epsilon=3)))
        ledger.reserve(plan(1, table="a+b"))
        for table in ("a", "b", "a+b"):
            with pytest.raises(BudgetExhausted, match=f"for table {table[0]}"):
                ledger.reserve(plan("0.1", table=table))
        assert ledger.remaining.epsilon == 2

    # Filters

    def test_several_filters_let_many_small_releases_through(self):
        terms = Terms.from_policy(
            Policy([Table("data")], epsilon=1, delta=1e-6, filters=("pure", "zcdp"))
        )
        both, pure = self.make(terms), self.ledger(1, 1e-6)
        request = plan(0.01)
        count = both.how_many(request)
        assert pure.how_many(request) == 100
        rho, third = PureLoss(0.01).rho, Fraction(1, 3 * 10**6)  # of delta, for the way back
        assert ConcentratedLoss(rho * count).epsilon(third) <= 1
        assert ConcentratedLoss(rho * (count + 1)).epsilon(third) > 1
        both.reserve_all([request] * count)
        with pytest.raises(BudgetExhausted):
            both.reserve(request)
        assert both.remaining.epsilon == 0  # in the pure sum; the concentrated one granted
        assert both.how_many(request) == 0

    def test_deltas_of_plans_count_in_every_filter(self):
        filters = ("pure", "zcdp", "gdp")
        ledger = self.make(
            Terms.from_policy(Policy([Table("data")], epsilon=1, delta=3e-6, filters=filters))
        )
        assert {usage.filter for usage in ledger.remaining.others} == {"zcdp", "gdp"}
        ledger.reserve(plan(0.1, 1e-8))  # private keys have a delta
        assert {usage.filter for usage in ledger.remaining.others} == {"zcdp", "gdp"}
        used = {usage.filter: usage.spent_delta for usage in ledger.filter_usages()}
        assert used == dict.fromkeys(filters, Fraction(1, 10**8))

    def test_gaussian_plans_go_by_the_gaussian_sum(self):
        filters = ("pure", "zcdp", "gdp")
        policy = Policy([Table("data")], epsilon=1, delta=3e-6, filters=filters)
        ledger = self.make(Terms.from_policy(policy))
        bell = Gaussian(variance=10_000)
        request = plan(0.1, 1e-6, blocks=(Block(("n",), "rows", bell),), thresholding=None)
        count = ledger.how_many(request)
        assert count > 300
        ledger.reserve_all([request] * count)
        with pytest.raises(BudgetExhausted):
            ledger.reserve(request)

    # Plans reserved in advance

    def test_plans_fixed_in_advance_are_priced_tightly(self):
        ledger = self.ledger(5, 1e-6)
        with pytest.raises(BudgetExhausted):
            ledger.reserve_all([plan(0.1)] * 100)
        entries = ledger.reserve_all([plan(0.1)] * 100, delta=1e-6)
        assert len(entries) == 100
        assert {(entry.number, entry.place) for entry in entries} == {
            (1, i) for i in range(100)
        }
        assert ledger.remaining.delta == 0
        assert Fraction(47, 10) < 5 - ledger.remaining.epsilon < Fraction(48, 10)
        for entry in entries:
            ledger.settle(entry)
        ledger.verify()

    def test_a_batch_is_all_or_nothing(self):
        ledger = self.ledger(1)
        with pytest.raises(BudgetExhausted, match=r"costs epsilon 1\.1"):
            ledger.reserve_all([plan(0.1)] * 11)
        assert ledger.entries == ()
        assert len(ledger.reserve_all([plan(0.1)] * 10)) == 10
        assert ledger.remaining.epsilon == 0
        with pytest.raises(InvalidParameter, match="empty"):
            ledger.reserve_all([])

    # Parts

    @pytest.mark.parametrize(("neighbors", "cost"), [("add-remove", "0.5"), ("replace", "0.8")])
    def test_parts_cost_the_largest_or_the_worst_pair(self, neighbors, cost):
        ledger = self.ledger(1)
        for part, epsilon in {"A": 0.3, "B": 0.25, "C": 0.2}.items():
            ledger.reserve(plan(epsilon, neighbors=neighbors), part=(("ward", part),))
        ledger.reserve(plan(0.25, neighbors=neighbors), part=(("ward", "B"),))
        assert ledger.remaining.epsilon == 1 - Fraction(cost)
        ledger.reserve(plan(0.1, neighbors=neighbors), part=(("decade", "30"),))
        assert ledger.remaining.epsilon == Fraction(9, 10) - Fraction(cost)

    @pytest.mark.parametrize(("neighbors", "left"), [("add-remove", "0.9"), ("replace", "0.3")])
    def test_a_part_has_left_what_it_would_be_granted(self, neighbors, left):
        ledger = self.ledger(1)
        touches = 2 if neighbors == "replace" else 1
        ledger.reserve(plan(0.6, neighbors=neighbors), part=(("ward", "A"),))
        ledger.reserve(plan(0.1, neighbors=neighbors), part=(("ward", "B"),))
        part = (("ward", "B"),)
        assert ledger.remaining_for(part=part, touches=touches).epsilon == Fraction(left)
        request = plan("0.01", neighbors=neighbors)
        assert ledger.how_many(request, part=part) == int(100 * Fraction(left))
        with pytest.raises(BudgetExhausted, match=f"epsilon {left}, delta 0 are left"):
            ledger.reserve(plan("0.91", neighbors=neighbors), part=part)
        ledger.reserve(plan(left, neighbors=neighbors), part=part)
        assert ledger.remaining_for(part=part, touches=touches).epsilon == 0
        with pytest.raises(BudgetExhausted):
            ledger.reserve(request, part=part)

    def test_a_filter_that_the_whole_has_passed_is_closed_to_its_parts(self):
        policy = Policy([Table("data")], epsilon=1, delta=1e-6, filters=("pure", "zcdp"))
        ledger = self.make(Terms.from_policy(policy))
        part, other = (("ward", "A"),), (("ward", "B"),)
        ledger.reserve_all([plan("0.01")] * 150, part=part)  # by the concentrated sum
        left = ledger.remaining_for(part=other)
        assert left.epsilon == 0
        assert left.others[0].amount > 0
        assert ledger.how_many(plan("0.01"), part=other) > 150

    def test_parts_of_parts(self):
        ledger = self.ledger(1)
        for ward, sex in [("A", "f"), ("A", "m"), ("B", "f")]:
            ledger.reserve(plan(0.25), part=(("ward", ward), ("sex", sex)))
        ledger.reserve(plan(0.5), part=(("ward", "A"),))
        assert ledger.remaining.epsilon == Fraction(1, 4)
        with pytest.raises(BudgetExhausted):
            ledger.reserve(plan(0.5), part=(("ward", "A"),))
        ledger.reserve(plan(0.5), part=(("ward", "B"),))
        assert ledger.remaining.epsilon == Fraction(1, 4)

    # Schedules

    def test_a_budget_grows_by_its_schedule_and_by_nothing_else(self):
        today = [datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)]
        grows = Schedule(start=datetime.date(2026, 1, 1), every=10, epsilon=0.5, times=2)
        policy = Policy([Table("data")], epsilon=1, schedule=grows)
        ledger = self.make(Terms.from_policy(policy), clock=lambda: today[0])
        ledger.reserve(plan(1))
        for epsilon in ("0.5", "0.5"):
            with pytest.raises(BudgetExhausted):
                ledger.reserve(plan(epsilon))
            today[0] += datetime.timedelta(days=10)
            ledger.reserve(plan(epsilon))
        today[0] += datetime.timedelta(days=1000)
        with pytest.raises(BudgetExhausted):
            ledger.reserve(plan("0.1"))
        (gauge,) = ledger.filter_usages()
        assert gauge.spent == gauge.cap == 2
        today[0] = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)  # a clock set back
        assert ledger.remaining.epsilon == 0
        ledger.verify()

    # Answers given before

    def test_the_same_question_again_is_found(self):
        ledger = self.ledger(2)
        question = {"plan_hash": "f00d", "version": "march"}
        assert ledger.recall(**question) is None
        with ledger.ask(plan(0.5), **question) as entry:
            assert ledger.recall(**question) is None  # nothing was released yet
            ledger.settle(entry, '{"n": 12}')
        with ledger.ask(plan(0.5), **question) as outcome:
            assert (outcome.number, outcome.record) == (entry.number, '{"n": 12}')
        assert ledger.recall(**question) == outcome
        assert ledger.recall(plan_hash="f00d", version="april") is None
        assert ledger.recall(plan_hash="beef", version="march") is None
        assert ledger.remaining.epsilon == Fraction(3, 2)
        with ledger.ask(
            plan(0.5), **question, fresh=True
        ) as again:  # fresh noise is paid again
            ledger.settle(again, '{"n": 13}')
        assert ledger.recall(**question).record == '{"n": 13}'
        assert ledger.remaining.epsilon == 1
        ledger.verify()

    def test_an_analyst_pays_once_for_what_another_asked(self):
        analysts = {"ann": Budget(1), "bob": Budget(1), "eve": Budget(Fraction(1, 4))}
        ledger = self.make(
            Terms.from_policy(Policy([Table("data")], epsilon=1, analysts=analysts))
        )
        with ledger.ask(plan(0.5), analyst="ann", plan_hash="f00d") as entry:
            ledger.settle(entry, "{}")
        for _ in range(3):
            assert answer_to(ledger, plan(0.5), plan_hash="f00d", analyst="ann") == "{}"
            assert answer_to(ledger, plan(0.5), plan_hash="f00d", analyst="bob") == "{}"
        with pytest.raises(BudgetExhausted, match="analyst eve"):
            answer_to(ledger, plan(0.5), plan_hash="f00d", analyst="eve")
        spent = {usage.account: usage.spent for usage in ledger.filter_usages()}
        half = Fraction(1, 2)
        assert spent == {"unit:*": half, "analyst:ann": half, "analyst:bob": half} | {
            "analyst:eve": 0
        }
        free = {name: ledger.recall(plan_hash="f00d", analyst=name) for name in analysts}
        assert [name for name, answer in free.items() if answer] == ["ann", "bob"]
        ledger.verify()

    def test_whoever_receives_two_answers_pays_for_two(self):
        analysts = {"ann": Budget(9), "bob": Budget(9)}
        ledger = self.make(
            Terms.from_policy(Policy([Table("data")], epsilon=9, analysts=analysts))
        )
        for turn in (1, 2):
            entry = ledger.reserve(plan(1), analyst="ann", plan_hash="f00d")  # fresh each time
            ledger.settle(entry, str(turn))
            with ledger.ask(plan(1), plan_hash="f00d", analyst="bob") as outcome:
                assert (outcome.number, outcome.record) == (entry.number, str(turn))
            spent = {usage.account: usage.spent for usage in ledger.filter_usages()}
            assert spent["analyst:bob"] == spent["unit:*"] == turn
        with pytest.raises(InvalidParameter, match="no entry"):
            ledger.settle(replace(entry, number=entry.number + 2))  # bob's, which has ended
        ledger.verify()

    # One question, one answer

    def test_six_threads_with_one_question_get_one_answer_and_pay_once(self):
        """The one who may answer waits until all others have asked too."""
        ledger, answers = self.ledger(6), []
        askers, everybody = set(), threading.Event()
        is_held = ledger._journal.is_held

        def note():
            askers.add(threading.get_ident())
            if len(askers) == 6:
                everybody.set()

        def look(token):
            note()
            return is_held(token)

        def work(name):
            with ledger.ask(plan(1), plan_hash="f00d") as outcome:
                if isinstance(outcome, Entry):
                    note()
                    everybody.wait()
                    ledger.settle(outcome, json.dumps(name))
                    answers.append(json.dumps(name))
                else:
                    answers.append(outcome.record)

        ledger._journal.is_held = look
        threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 6
        assert len(set(answers)) == 1
        assert len(ledger.entries) == 1
        assert ledger.remaining.epsilon == 5
        ledger.verify()

    def test_who_waits_gets_the_failure_too_and_pays_nothing(self):
        ledger, told = self.ledger(6), []

        def work():
            try:
                answer_to(ledger, plan(1), plan_hash="f00d")
            except EngineFailed as failure:
                told.append(failure.reference)

        with ledger.ask(plan(1), plan_hash="f00d") as entry:
            waits = self.wait_in(work)
            ledger.fail(entry, "beef")
        waits.join()
        assert told == ["beef"]
        assert ledger.remaining.epsilon == 5
        with ledger.ask(plan(1), plan_hash="f00d") as entry:  # asked again, and paid again
            assert ledger.remaining.epsilon == 4

    def wait_in(self, work):
        """Starts a thread, and returns once it looks for the outcome of an open question."""
        looks, journal = threading.Event(), self.last._journal
        is_held = journal.is_held

        def look(token):
            looks.set()
            return is_held(token)

        def start():
            try:
                work()
            finally:
                looks.set()

        journal.is_held = look
        thread = threading.Thread(target=start)
        thread.start()
        looks.wait()
        return thread

    def test_patience_ends_and_nothing_is_spent(self, monkeypatch):
        ledger = self.ledger(6)
        monkeypatch.setattr(questions, "PATIENCE", 0)
        with ledger.ask(plan(1), plan_hash="f00d") as entry:
            with pytest.raises(QuestionPending, match="Nothing was spent"):
                answer_to(ledger, plan(1), plan_hash="f00d")
            assert ledger.remaining.epsilon == 5
            ledger.settle(entry, "{}")
        assert answer_to(ledger, plan(1), plan_hash="f00d") == "{}"
        assert ledger.remaining.epsilon == 5

    def test_a_question_that_was_left_without_an_outcome_blocks_nobody(self, monkeypatch):
        monkeypatch.setattr(questions, "PATIENCE", 0)
        ledger = self.ledger(6)
        with ledger.ask(plan(1), plan_hash="f00d") as left:
            pass
        with ledger.ask(plan(1), plan_hash="f00d") as entry:
            assert entry.number > left.number
            ledger.settle(entry, "{}")
        assert [charge.state for charge in ledger.entries] == ["failed", "settled"]
        assert ledger.remaining.epsilon == 4  # both are charged
        with pytest.raises(InvalidParameter, match="already failed"):
            ledger.settle(left, "{}")  # one outcome
        ledger.verify()

    def test_a_question_id_has_one_charge_and_one_outcome(self):
        ledger = self.ledger(6)
        question = {"plan_hash": "f00d", "fresh": True}
        for record, name in (("1", "first"), ("2", "second")):
            with ledger.ask(plan(1), **question, question_id=name) as entry:
                ledger.settle(entry, record)
        for record, name in (("1", "first"), ("2", "second")):
            assert answer_to(ledger, plan(1), **question, question_id=name) == record
        with ledger.ask(plan(1), **question, question_id="third") as entry:
            ledger.fail(entry, "beef")
        with ledger.ask(plan(1), **question, question_id="fourth") as entry:
            pass  # its process dies
        with ledger.ask(plan(1), **question, question_id="fifth") as entry:
            ledger.settle(entry)  # too large to be kept
        for _ in range(2):
            for name, reference in (("third", "beef"), ("fourth", "abandoned")):
                with pytest.raises(EngineFailed, match=reference):
                    answer_to(ledger, plan(1), **question, question_id=name)
            with pytest.raises(InvalidParameter, match="too large to be kept"):
                answer_to(ledger, plan(1), **question, question_id="fifth")
        for bad in ("", "x" * 201, 7):
            with pytest.raises(InvalidParameter, match="question_id"):
                answer_to(ledger, plan(1), **question, question_id=bad)
        assert ledger.remaining.epsilon == 1
        ledger.verify()

    def test_a_question_id_belongs_to_one_question_and_one_version(self):
        ledger = self.ledger(6)
        first = {"plan_hash": "f00d", "version": "1", "question_id": "order 17"}
        with ledger.ask(plan(1), **first) as entry:
            for other in ({"plan_hash": "beef"}, {"version": "2"}):
                for fresh in (False, True):
                    with pytest.raises(InvalidParameter, match="another question, or for"):
                        answer_to(ledger, plan(2), **first | other, fresh=fresh)
            ledger.settle(entry, "{}")
        with pytest.raises(InvalidParameter, match="'order 17' was used"):
            answer_to(ledger, plan(2), **first | {"plan_hash": "beef"})
        assert answer_to(ledger, plan(1), **first) == "{}"
        for bad in ("a\0b", "\ud800", "a\nb"):
            with pytest.raises(InvalidParameter, match="printable"):
                answer_to(ledger, plan(1), **first | {"question_id": bad})
        assert len(ledger.entries) == 1
        assert ledger.remaining.epsilon == 5
        ledger.verify()

    def lose_confirmation(self, ledger):
        """Asks, and the charge is committed, but its confirmation never comes."""
        append = ledger._journal.append

        def lose(decide):
            append(decide)
            raise LedgerUnavailable("The connection is lost.")

        ledger._journal.append = lose
        with pytest.raises(LedgerUnavailable):
            answer_to(ledger, plan(1), plan_hash="f00d")
        del ledger._journal.append

    def test_two_retries_after_a_lost_connection_get_one_answer(self):
        """The second waits for the first, and does not keep the ledger locked meanwhile."""
        ledger, got = self.ledger(6), []
        self.lose_confirmation(ledger)
        with ledger.ask(plan(1), plan_hash="f00d") as entry:
            waits = self.wait_in(
                lambda: got.append(answer_to(ledger, plan(1), plan_hash="f00d"))
            )
            ledger.settle(entry, '"first"')
        waits.join()
        assert got == ['"first"']
        assert len(ledger.entries) == 1
        assert ledger.remaining.epsilon == 5
        assert not ledger._desk.unconfirmed

    def test_a_lost_reservation_is_used_once(self):
        """Who took it over may have run the engine: the next asker pays."""
        ledger = self.ledger(6)
        self.lose_confirmation(ledger)
        with ledger.ask(plan(1), plan_hash="f00d") as left:
            pass
        with ledger.ask(plan(1), plan_hash="f00d") as entry:
            assert entry.number > left.number
        assert ledger.remaining.epsilon == 4

    def test_a_retry_after_a_lost_connection_does_not_pay_again(self):
        ledger = self.ledger(6)
        self.lose_confirmation(ledger)
        with ledger.ask(plan(1), plan_hash="f00d") as entry:
            ledger.settle(entry, "{}")
        assert answer_to(ledger, plan(1), plan_hash="f00d") == "{}"
        assert len(ledger.entries) == 1
        assert ledger.remaining.epsilon == 5

    def test_a_question_id_belongs_to_its_analyst(self):
        analysts = {"ann": Budget(1), "bob": Budget(1)}
        ledger = self.make(
            Terms.from_policy(Policy([Table("data")], epsilon=9, analysts=analysts))
        )
        with ledger.ask(plan(1), plan_hash="f00d", analyst="ann", question_id="1") as entry:
            ledger.fail(entry, "beef")
        with ledger.ask(plan(1), plan_hash="f00d", analyst="bob", question_id="1") as entry:
            assert isinstance(entry, Entry)
        assert [charge.analyst for charge in ledger.entries] == ["ann", "bob"]

    # Runs

    def test_a_run_is_one_charge_and_its_steps_keep_within_it(self):
        ledger = self.ledger(1)
        run = ledger.reserve_run(PureLoss(0.75))
        assert ledger.remaining.epsilon == Fraction(1, 4)
        assert [run.step(plan(0.25)), run.step(plan(0.375))] == [1, 2]
        with pytest.raises(BudgetExhausted, match=r"epsilon 0\.125 is left of the run"):
            run.step(plan(0.25))
        assert run.step(plan(0.125)) == 3
        with pytest.raises(BudgetExhausted, match="epsilon 0 is left"):
            run.step(plan("1e-12"))
        run.settle()
        for act in (run.settle, lambda: run.fail("beef")):
            with pytest.raises(InvalidParameter, match="already settled"):
                act()
        (entry,) = ledger.entries
        assert (entry.epsilon, entry.state) == (Fraction(3, 4), "settled")
        assert ledger.remaining.epsilon == Fraction(1, 4)  # nothing is refunded
        ledger.verify()

    def test_a_run_is_charged_also_if_it_fails_or_makes_no_step(self):
        ledger = self.ledger(1)
        run = ledger.reserve_run(PureLoss(0.5))
        run.fail("beef")
        with pytest.raises(InvalidParameter, match="already failed"):
            run.step(plan(0.1))
        ledger.reserve_run(PureLoss(0.5)).settle()
        assert ledger.remaining.epsilon == 0
        with pytest.raises(BudgetExhausted):
            ledger.reserve_run(PureLoss(Fraction(1, 10**12)))
        ledger.verify()

    def test_deltas_of_steps_have_a_share_of_their_own(self):
        ledger = self.ledger(1, 1e-6)
        run = ledger.reserve_run(ApproximateLoss(1, 3e-7))
        assert ledger.remaining.delta == Fraction(7, 10**7)
        run.step(plan(0.25, 2e-7))
        with pytest.raises(BudgetExhausted, match="delta 1e-07 is left of the run"):
            run.step(plan(0.25, 2e-7))
        run.step(plan(0.25, 1e-7))
        run.step(plan(0.5))
        run.settle()
        without = self.ledger(1, 1e-6).reserve_run(PureLoss(1))
        with pytest.raises(BudgetExhausted):
            without.step(plan(0.25, 1e-9))
        ledger.verify()

    @pytest.mark.parametrize(("loss", "count"), RUNS.values(), ids=RUNS)
    def test_steps_add_up_in_the_unit_of_the_loss(self, loss, count):
        policy = Policy([Table("data")], epsilon=9, delta=1e-3, filters=["pure", "zcdp", "gdp"])
        ledger = self.make(Terms.from_policy(policy))
        run = ledger.reserve_run(loss, delta=1e-5)
        for _ in range(count):
            run.step(plan(0.1, 1e-9))
        with pytest.raises(BudgetExhausted):
            run.step(plan(0.1, 1e-9))
        run.settle()
        ledger.verify()

    def test_several_sums_keep_a_run_at_once(self):
        ledger = self.ledger(1, 1e-6)
        filters = ("pure", "zcdp", "gdp")
        run = ledger.reserve_run(ApproximateLoss(1, 1e-6), filters=filters)
        assert ledger.remaining.epsilon == ledger.remaining.delta == 0
        same = UnionFilter.within(epsilon=1, delta=1e-6, kinds=filters)
        for epsilon in [0.125] + [0.015625] * 60:
            request = plan(epsilon)
            if same.room_for(request.loss):
                same.spend(request.loss)
                run.step(request)
            else:
                with pytest.raises(BudgetExhausted):
                    run.step(request)
        run.settle()
        ledger.verify()

    @pytest.mark.parametrize(
        ("loss", "options"),
        [
            (LossDistribution.laplace(0.1), {"delta": 1e-7}),
            (RenyiLoss({2: 0.1, 8: 0.5}), {"delta": 1e-7}),
            (GaussianLoss(0.1), {}),
            (GaussianLoss(0.1), {"filters": ("pure", "gdp"), "delta": 1e-7}),
            (ConcentratedLoss(0.1), {"delta": 0}),
            (0.5, {}),
        ],
        ids=["curve", "two orders", "no delta", "no epsilon", "delta 0", "number"],
    )
    def test_a_loss_that_no_filter_adds_up_is_refused_at_no_cost(self, loss, options):
        ledger = self.ledger(1, 1e-6)
        with pytest.raises((InvalidStoppingRule, InvalidParameter)):
            ledger.reserve_run(loss, **options)
        assert not ledger.entries

    def test_a_run_reads_only_what_it_was_charged_for(self):
        tables = [Table("data"), Table("more", budget=Budget(1)), Table("open", public=True)]
        ledger = self.make(Terms.from_policy(Policy(tables, epsilon=2)))
        run = ledger.reserve_run(PureLoss(1), tables=["data"], neighbors="add-remove")
        run.step(plan(0.25))
        with pytest.raises(InvalidParameter, match="not charged for data, more"):
            run.step(plan(0.25, beside=("more",)))
        with pytest.raises(InvalidParameter, match="replace"):
            run.step(plan(0.25, neighbors="replace"))
        run.settle()
        both = ledger.reserve_run(PureLoss(1))  # every private table, unless named
        both.step(plan(0.25, beside=("more",), neighbors="replace"))
        spent = {usage.account: usage.spent for usage in ledger.filter_usages()}
        assert spent == {"unit:*": 2, "table:more": 1}
        ledger.verify()

    @pytest.mark.parametrize(
        "options",
        [
            {"tables": "data"},
            {"tables": ()},
            {"tables": ["data", "nothing"]},
            {"tables": ["open"]},
            {"neighbors": "x"},
            {"neighbors": None},
        ],
    )
    def test_a_run_is_charged_for_private_tables_that_there_are(self, options):
        tables = [Table("data"), Table("open", public=True)]
        ledger = self.make(Terms.from_policy(Policy(tables, epsilon=2)))
        with pytest.raises((InvalidParameter, MissingRelation), match=r"`tables`|`neighbors`"):
            ledger.reserve_run(PureLoss(1), **options)
        assert ledger.entries == ()

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("_run", {"keeps": "all", "limits": {"pure": ["9", "0"]}}),
            ("_spent", {"pure": Amount(Fraction(-1))}),
        ],
    )
    def test_a_run_keeps_the_limits_that_its_entry_states(self, name, value):
        run = self.ledger(1).reserve_run(PureLoss(0.5))
        setattr(run, name, value)
        with pytest.raises(LedgerBroken, match="of this run"):
            run.step(plan(0.5))

    def test_two_copies_of_a_run_cannot_spend_it_twice(self):
        ledger = self.ledger(1)
        run = ledger.reserve_run(PureLoss(1))
        twin = copy.copy(run)
        run.step(plan(1))
        with pytest.raises(InvalidParameter, match="already in the ledger"):
            twin.step(plan(1))
        ledger.verify()

    def test_a_step_whose_plan_understates_its_price_is_refused(self):
        run = self.ledger(1).reserve_run(PureLoss(1))
        with pytest.raises(InvalidParameter, match="running it costs more"):
            run.step(replace(plan(0.5), epsilon=Fraction(1, 10)))
        assert str(run.remaining[0]) == "epsilon 1"

    def test_a_question_of_several_steps_is_one_charge_and_one_answer(self):
        ledger = self.ledger(2)
        question = {"plan_hash": "f00d", "version": "", "analyst": None, "part": ()}
        question |= {"fresh": False, "question_id": None}
        with ledger.ask_run((plan(0.25), plan(0.5)), **question) as run:
            run.keep(run.step(plan(0.25)), "1", plan_hash="a", version="")
            run.step(plan(0.5))
            run.settle("[1, 2]")
        with ledger.ask_run((plan(0.25), plan(0.5)), **question) as outcome:
            assert (outcome.number, outcome.record) == (run.entry.number, "[1, 2]")
        assert answer_to(ledger, plan(0.25), plan_hash="a") == "1"  # a step is kept too
        assert ledger.remaining.epsilon == Fraction(5, 4)
        ledger.verify()

    # The chain

    def test_heads_are_signed_and_a_ledger_that_grew_still_holds_them(self):
        ledger = self.ledger(1)
        heads = [ledger.head]
        for _ in range(3):
            ledger.settle(ledger.reserve(plan(0.1)), "{}")
            heads.append(ledger.head)
        verdict = ledger.verify(heads)
        assert (verdict.entries, verdict.earlier, verdict.head) == (7, 4, heads[-1])
        with pytest.raises(LedgerBroken, match="not signed"):
            ledger.verify([replace(heads[0], number=2)])

    def test_a_head_of_a_longer_ledger_shows_a_rollback(self):
        ledger = self.ledger(1)
        ledger.reserve(plan(0.1))
        short, (rows, anchor) = ledger.head, ledger._journal.read_all()
        rows = list(rows)
        ledger.reserve(plan(0.1))
        assert replay_ledger(rows, anchor, ledger.public_key).head == short
        with pytest.raises(LedgerBroken, match="set back"):
            replay_ledger(rows, anchor, ledger.public_key, [ledger.head])
