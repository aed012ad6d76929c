from fractions import Fraction

import pytest

from deniable.errors import InvalidParameter
from deniable.ledger import Remaining
from deniable.ledger.charges import check_price
from deniable.ledger.remaining import describe_how_many
from deniable.mechanisms import Gaussian, Laplace
from deniable.query.plan.plan import Block
from tests.ledger.contract import plan


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
    assert str(Remaining(Fraction(2, 3), Fraction(0))) == "epsilon 0.666666, delta 0"
    assert str(Remaining(Fraction(5, 2), Fraction(1, 10**6))) == "epsilon 2.5, delta 1e-06"


def test_how_many_more_in_words():
    said = [
        describe_how_many(count).split(" more")[0]
        for count in (2, 19, 20, 43, 99, 100, 437, 98765)
    ]
    assert said == ["2", "19", "20", "43", "99", "100", "437", "about 98,000"]
