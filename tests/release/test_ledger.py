from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter
from deniable.mechanisms import Gaussian, Laplace
from deniable.query.plan import Block
from deniable.release import MemoryLedger, Remaining
from deniable.release.ledger import check_price
from tests.release.contract import LedgerContract, plan


class TestMemoryLedger(LedgerContract):
    def ledger(self, epsilon, delta=0):
        return MemoryLedger(epsilon, delta)

    def test_entries_tell_how_each_charge_ended(self):
        ledger = MemoryLedger(1)
        one, two = ledger.reserve(plan(0.1)), ledger.reserve(plan(0.2))
        ledger.failed(one, "beef")
        ledger.settle(two)
        ledger.reserve(plan(0.3))
        states = [(str(one.epsilon), one.state, one.reference) for one in ledger.entries]
        assert states == [
            ("1/10", "failed", "beef"),
            ("1/5", "settled", None),
            ("3/10", "reserved", None),
        ]

    def test_an_entry_of_another_ledger(self):
        entry = MemoryLedger(1).reserve(plan(0.1))
        with pytest.raises(InvalidParameter, match="no entry"):
            MemoryLedger(1).settle(entry)


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -0.1},
    ],
)
def test_bad_budgets(bad):
    with pytest.raises(InvalidParameter):
        MemoryLedger(**bad)


def test_gaussian_plans_are_checked_by_their_exact_curve():
    noise = Gaussian.calibrated(epsilon=1, delta=1e-6)
    honest = plan(1, blocks=(Block(("n",), "rows", noise),), delta=Fraction(1, 10**6))
    check_price(honest)
    narrow = Gaussian(variance=noise.variance * Fraction(99, 100))
    with pytest.raises(InvalidParameter, match="costs more"):
        check_price(plan(1, blocks=(Block(("n",), "rows", narrow),), delta=Fraction(1, 10**6)))


def test_several_blocks_add_up():
    thirds = tuple(Block((f"f{i}",), "rows", Laplace(epsilon=Fraction(1, 3))) for i in range(3))
    check_price(plan(1, blocks=thirds))
    with pytest.raises(InvalidParameter, match="costs more"):
        check_price(plan(1, blocks=(*thirds, Block(("g",), "rows", Laplace(epsilon=1e-9)))))


def test_what_is_left_never_looks_like_more():
    assert str(Remaining(Fraction(2, 3), Fraction(0))) == "epsilon 0.6666666666666666, delta 0"
    assert str(Remaining(Fraction(5, 2), Fraction(1, 10**6))) == "epsilon 2.5, delta 1e-06"
