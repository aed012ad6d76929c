"""Limits keep the budget, charges cover the losses, and no adaptive analyst gets past them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.ledger import MemoryLedger
from deniable.ledger.charges import charge_for, exact_sum, filter_limits
from deniable.ledger.terms import Terms
from deniable.mechanisms import Gaussian
from deniable.policy import Policy, Table
from deniable.policy.budget import Budget
from deniable.privacy import UnionFilter
from deniable.query.plan.plan import Block
from tests.ledger.contract import plan

ALL = ("pure", "zcdp", "gdp")


def bell(epsilon, delta):
    noise = Gaussian.calibrated(epsilon=epsilon, delta=delta)
    return plan(epsilon, delta, blocks=(Block(("n",), "rows", noise),), thresholding=None)


@pytest.mark.parametrize("filters", [("pure",), ("pure", "zcdp"), ("pure", "gdp"), ALL])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (8, 1e-3)])
def test_the_filters_together_keep_the_budget(filters, epsilon, delta):
    """A union refuses filters that do not keep their shares, so making it is the proof."""
    budget = Budget(epsilon, delta)
    assert union(budget, filters).promise.epsilon(budget.delta) <= float(budget.epsilon)


def union(budget, filters):
    """The public filter of the same budget."""
    return UnionFilter.within(epsilon=budget.epsilon, delta=budget.delta, kinds=filters)


@pytest.mark.parametrize("filters", [("pure",), ("pure", "zcdp"), ("pure", "gdp"), ALL])
def test_the_ledger_and_the_public_filter_split_delta_alike(filters):
    budget = Budget(1, Fraction(1, 10**6))
    limits = filter_limits(budget, filters)
    for kind, member in zip(filters, union(budget, filters).filters, strict=True):
        assert limits[kind] == (member.limit.amount.rational, member.limit.slack)
    spent = {kind: limit.slack for kind, limit in limits.items()}
    assert spent.pop("pure") == budget.delta / (3 if spent else 1)
    assert all(slack == budget.delta / 3 for slack in spent.values())


@given(
    st.lists(st.sampled_from([1, 2, 4, 8, 16, 32]), min_size=1, max_size=25),
    st.sampled_from([("pure",), ("pure", "zcdp"), ALL]),
)
def test_a_ledger_grants_what_the_union_filter_grants(shares, filters):
    """The sums that a ledger keeps also past their limits decide like filters that close."""
    ledger = MemoryLedger(terms=terms(1, 1e-6, filters))
    filter_ = union(Budget(1, 1e-6), filters)
    for share in shares:
        request = plan(Fraction(1, 2 * share))
        fits = filter_.room_for(request.loss)
        assert (ledger.how_many(request) > 0) == fits
        if fits:
            filter_.spend(request.loss)
            ledger.reserve(request)
        else:
            with pytest.raises(BudgetExhausted):
                ledger.reserve(request)


def test_charges_are_those_of_the_filters():
    request = bell(1, Fraction(1, 10**6))
    charge = charge_for((request,), ALL)
    assert charge["pure"] == (1, Fraction(1, 10**6))
    assert charge["zcdp"] == (request.loss.rho, 0)
    assert charge["gdp"] == (request.loss.mu_squared, 0)
    keyed = charge_for((plan(1, 1e-6),), ALL)
    assert keyed["zcdp"].slack == Fraction(1, 10**6)
    assert keyed["gdp"].slack == Fraction(1, 10**6)
    assert keyed["gdp"].amount > 0


def test_a_price_fixed_in_advance_lies_below_the_sum():
    plans = [plan(0.1)] * 100
    tight = charge_for(plans, ALL, Fraction(1, 10**6))
    assert tight["pure"].amount == pytest.approx(4.7745676, abs=1e-3)  # the known optimum
    assert tight["pure"].amount >= Fraction(4774567588, 10**9)
    loose = charge_for(plans, ALL)
    assert loose["pure"] == (10, 0)
    assert tight["zcdp"] == loose["zcdp"]
    with pytest.raises(InvalidParameter, match="no finite epsilon"):
        charge_for([plan(1, 1e-3)], ALL, Fraction(1, 10**9))


def test_sums_are_exact():
    parts = [Fraction(1, 10)] * 10 + [Fraction(1, 3)] * 3
    assert exact_sum(parts) == 2


def terms(epsilon, delta, filters):
    return Terms.from_policy(
        Policy([Table("data")], epsilon=epsilon, delta=delta, filters=filters)
    )


def test_no_adaptive_analyst_gets_past_the_filter(size):
    """Each chooses every price after the last answer; the answers really are drawn.

    One bit is asked about again and again, by randomized response. What the answers tell, the
    logarithm of their likelihood ratio, can never exceed what the pure sum committed to.
    Analysts bet all that is left, or a share that depends on what they have learnt.
    """
    analysts = size(small=60, full=10_000, what="analysts who adapt to each answer")
    generator = np.random.default_rng(7)
    furthest = unfiltered = 0.0
    for _ in range(analysts):
        ledger, told, refusals = MemoryLedger(1), 0.0, 0
        style, free = generator.random(), 0.0
        while refusals < 3:
            left = ledger.remaining.epsilon
            wanted = [left, left / 2, left * 2, Fraction(1, 10), Fraction(3, 10)]
            lucky = told > 0
            choice = int(generator.integers(5)) if lucky else int(style * 5)
            epsilon = max(wanted[choice], Fraction(1, 1000))
            try:
                ledger.settle(ledger.reserve(plan(epsilon)))
            except BudgetExhausted:
                refusals += 1
                style = generator.random()
                epsilon = None
            if epsilon is not None:
                truth = generator.random() < 1 / (1 + math.exp(-epsilon))
                told += float(epsilon) if truth else -float(epsilon)
            free += 0.1 if generator.random() < 1 / (1 + math.exp(-0.1)) else -0.1
        spent = sum(entry.epsilon for entry in ledger.entries)
        assert spent <= 1
        assert abs(told) <= 1 + 1e-12
        furthest = max(furthest, abs(told))
        steps = generator.choice([0.1, -0.1], size=1000, p=[0.525, 0.475])
        unfiltered = max(unfiltered, float(np.abs(np.cumsum(steps)).max()))
    assert furthest > 0.9  # they do use what there is
    assert unfiltered > 2  # and would go on without a filter


def test_no_adaptive_analyst_gets_past_all_filters(size):
    """With several filters, what was granted always fits at least one of them, exactly."""
    analysts = size(small=25, full=2_000, what="analysts against several filters at once")
    generator = np.random.default_rng(11)
    committed = terms(1, 1e-6, ALL)
    kinds = {
        "laplace": [plan(Fraction(1, 2**i)) for i in range(8)],
        "bell": [bell(Fraction(1, 2**i), Fraction(1, 10**9)) for i in range(8)],
        "keys": [plan(Fraction(1, 2**i), Fraction(1, 10**8)) for i in range(8)],
    }
    beyond = dict.fromkeys(ALL, 0)
    for _ in range(analysts):
        ledger, granted = MemoryLedger(terms=committed), []
        favourite = generator.choice(list(kinds))
        step = int(generator.integers(3, 8))
        for _ in range(40):
            kind = favourite if generator.random() < 0.9 else generator.choice(list(kinds))
            request = kinds[kind][step]
            try:
                ledger.reserve(request)
                granted.append(request)
                step = max(0, step - int(generator.random() < 0.2))
            except BudgetExhausted:
                step = min(7, step + 1)
        charges = [charge_for((each,), ALL) for each in granted]
        fits = {kind: _fits([each[kind] for each in charges], kind) for kind in ALL}
        assert any(fits.values())
        for kind, each in fits.items():
            beyond[kind] += not each
        ledger.verify()
    assert all(beyond.values())  # each filter alone was passed by somebody


def _fits(charges, kind):
    limit = filter_limits(Budget(1, 1e-6), ALL)[kind]
    if None in charges:
        return False
    amount = sum((charge.amount for charge in charges), Fraction(0))
    slack = sum((charge.slack for charge in charges), Fraction(0))
    return amount <= limit.amount and slack <= limit.slack
