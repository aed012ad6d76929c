"""The price of a stream: never more than was asked for, and the better noise for it."""

from datetime import date
from fractions import Fraction

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.policy import Policy, Table
from deniable.privacy import GaussianLoss, PureLoss
from deniable.streams.counters.stream_price import price_counter
from deniable.streams.counting.design import CounterDesign
from deniable.streams.counting.drawable import can_draw
from deniable.streams.counting.promise import Promise


def price(horizon=365, delta=1e-6, **options):
    policy = Policy([Table("visits")], epsilon=3, delta=delta)
    return price_counter(policy, Promise(), horizon, options)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1, 2.5])
def test_a_gaussian_counter_costs_no_more_than_its_epsilon(epsilon):
    quote = price(epsilon=epsilon, delta=1e-9)
    assert isinstance(quote.loss, GaussianLoss)
    assert Fraction(quote.loss.epsilon(quote.delta)) <= Fraction(str(epsilon))
    assert quote.design.segment(0).noise.variance > 0


def test_the_better_noise_is_chosen():
    assert isinstance(price(2, epsilon=1).loss, PureLoss)
    assert isinstance(price(365, epsilon=1).loss, GaussianLoss)
    policy = Policy([Table("visits")], epsilon=3)
    pure = price_counter(policy, Promise(), 365, {"epsilon": 1})
    assert pure.delta is None
    assert isinstance(pure.loss, PureLoss)


def test_rho():
    assert price(rho=0.5).loss.mu_squared == 1
    assert str(price(rho=0.5)).startswith("rho 0.5 (in the sum of epsilons: epsilon 5.")


WIDE = {"horizon": 64, "bounds": (0, 10**12)}


@pytest.mark.parametrize(
    ("wide", "mend"),
    [
        ({**WIDE, "epsilon": 1}, "give `epsilon` with delta=0"),
        ({**WIDE, "rho": 1}, "wider grid"),
        ({**WIDE, "epsilon": 1e-6, "delta": 0}, "wider grid"),
        ({**WIDE, "rho": 1, "window": 7}, "wider grid"),
        ({"bounds": (0, 10**9), "epsilon": 1, "per_person": 10**4}, "smaller `per_person`"),
        ({"bounds": (0, 10**400), "epsilon": 1, "horizon": 9}, "narrower bounds"),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused_before_the_charge(wide, mend):
    data = dp.protect(pa.table({"x": [1]}), epsilon=4, delta=1e-6)
    for explain in (True, False):
        with pytest.raises(InvalidParameter, match=mend):
            data.counter("visits", **wide, explain=explain)
    assert data.remaining.epsilon == 4
    assert not data.ledger.entries


def test_an_endless_counter_is_refused_if_a_later_epoch_could_not_be_drawn():
    """Its first epoch could: it would fail after the charge, in the middle of its life."""
    promise = Promise(high=1 << 45, person="guest")
    policy = Policy([Table("visits")], epsilon=3)
    first = CounterDesign(promise, epsilon=Fraction(1, 4)).segment(0)
    assert can_draw(first.noise)
    with pytest.raises(InvalidParameter, match="too wide to draw"):
        price_counter(policy, promise, None, {"epsilon": 0.25})
    assert price_counter(policy, promise, 64, {"epsilon": 0.25}).design.horizon == 64


def test_a_watch_whose_noise_cannot_be_drawn_is_refused_before_the_charge():
    rows = pa.table({"day": [date(2026, 1, 1)] * 5, "x": [1.5] * 5})
    text = "SELECT day, SUM(x) AS n FROM visits GROUP BY day"
    year = {"since": "2026-01-01", "until": "2026-12-31", "epsilon": 0.001}

    def protect(**step):
        bounds = {"x": (0, 1e6)}
        return dp.protect(rows, name="visits", epsilon=4, delta=1e-6, bounds=bounds, **step)

    data = protect()
    with pytest.raises(InvalidParameter, match="for a column of a table, its `step`"):
        data.watch(text, **year)
    assert data.remaining.epsilon == 4
    assert protect(step={"x": 10}).watch(text, **year).read("2026-01-02").values
