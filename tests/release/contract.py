"""The contract that every ledger inherits, and plans to charge it with."""

import threading
from dataclasses import replace
from fractions import Fraction

import pytest

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.mechanisms import Laplace, Thresholding
from deniable.query.plan import Block, Feature, Output, Plan


def plan(epsilon, delta=0, /, **changes):
    """A plan that counts rows at this price; a delta pays for private keys."""
    epsilon, delta = Fraction(str(epsilon)), Fraction(str(delta))
    share = epsilon / 2 if delta else epsilon
    made = Plan(
        table="data",
        unit=None,
        neighbors="add-remove",
        max_groups=1,
        max_rows=1,
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
        engine_sql="SELECT 1",
        notes=(),
    )
    return replace(made, **changes)


class LedgerContract:
    """Subclasses make ledgers; these tests do the work."""

    def ledger(self, epsilon, delta=0):
        raise NotImplementedError

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
        ledger.failed(ledger.reserve(plan(0.6)), "beef")
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
            ledger.failed(entry, "beef")

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

    def test_noise_that_cannot_be_drawn_is_refused_before_the_charge(self):
        ledger = self.ledger(10)
        wide = Laplace(epsilon=1, sensitivity=2**60)
        with pytest.raises(InvalidParameter, match="step"):
            ledger.reserve(plan(1, blocks=(Block(("n",), "rows", wide),)))
        assert ledger.remaining.epsilon == 10

    def test_a_race_for_the_last_of_it(self):
        """Many at a barrier, room for a few: exactly those few succeed."""
        for _ in range(20):
            ledger = self.ledger(1)
            asked = plan(0.1)
            barrier, done = threading.Barrier(16), []

            def run(ledger=ledger, asked=asked, barrier=barrier, done=done):
                barrier.wait()
                try:
                    ledger.settle(ledger.reserve(asked))
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
