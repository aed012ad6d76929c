from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.ledger.accounts import (
    Accounts,
    Amount,
    Spent,
    charge_from_json,
    round_up,
)
from deniable.privacy import PureLoss, parallel

amounts = st.fractions(min_value=0, max_value=5, max_denominator=10**6)
charges = st.builds(lambda a, s: {"pure": Amount(a, s / 100)}, amounts, amounts)


def pure(amount, slack=0):
    return {"pure": Amount(Fraction(amount), Fraction(slack))}


@given(st.lists(st.tuples(st.sampled_from("ABCDE"), amounts), min_size=1, max_size=12))
def test_parts_cost_what_parallel_composition_says(requests):
    sums = {}
    spent = {1: Spent(), 2: Spent()}
    for part, amount in requests:
        sums[part] = sums.get(part, Fraction(0)) + amount
        for touches, account in spent.items():
            account.charge(pure(amount), (("ward", part),), touches)
    losses = [PureLoss(amount) for amount in sums.values() if amount]
    for touches, neighbors in {1: "add-remove", 2: "replace"}.items():
        total = spent[touches].total("pure").amount
        expected = (
            parallel(*losses, neighbors=neighbors).exact_epsilon.rational if losses else 0
        )
        assert total == expected


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("xy"), charges), max_size=8))
def test_what_is_written_is_read_again(requests):
    accounts = Accounts()
    for outer, inner, charge in requests:
        accounts.charge({"unit:*": charge}, (("ward", outer), ("sex", inner)), 2)
        accounts.charge({"unit:*": charge, "analyst:a": charge})
    again = Accounts.from_json(accounts.to_json())
    assert again == accounts
    assert again.spent_by("unit:*").total("pure") == accounts.spent_by("unit:*").total("pure")


@given(st.lists(st.tuples(st.sampled_from("ABC"), charges), min_size=1, max_size=10))
def test_a_charge_never_lowers_a_sum(requests):
    spent, before = Spent(), Amount(Fraction(0))
    for turn, (part, charge) in enumerate(requests):
        spent.charge(charge, (("ward", part),) if turn % 2 else ())
        total = spent.total("pure")
        assert before.fits(total)
        before = total


def test_a_charge_that_a_sum_does_not_know_closes_it_for_good():
    spent = Spent()
    spent.charge({"pure": Amount(Fraction(1)), "gdp": None}, (("ward", "A"),))
    spent.charge({"pure": Amount(Fraction(1)), "gdp": Amount(Fraction(1))})
    assert spent.total("gdp") is None
    assert spent.total("pure").amount == 2
    assert charge_from_json({"gdp": None}) == {"gdp": None}


@given(st.fractions(min_value=0))
def test_long_numbers_are_rounded_against_the_spender(x):
    for number in (x, x / 3**400, x + Fraction(1, 7**200)):
        rounded = round_up(number)
        assert number <= rounded <= number + Fraction(1, 2**256)
        assert rounded.denominator.bit_length() <= 257


def test_sums_of_strange_fractions_stay_short():
    spent = Spent()
    for prime in range(3, 2001, 2):
        spent.charge(pure(Fraction(1, prime)))
    total = spent.total("pure").amount
    assert total.denominator <= 2**256
    exact = sum(Fraction(1, prime) for prime in range(3, 2001, 2))
    assert exact <= total <= exact + Fraction(1, 2**240)


def test_one_filter_with_room_is_enough():
    accounts = Accounts()
    accounts.charge({"a": {"pure": Amount(Fraction(3)), "zcdp": Amount(Fraction(1, 10))}})
    limits = {"pure": Amount(Fraction(1)), "zcdp": Amount(Fraction(1, 10))}
    assert accounts.fits("a", limits)
    accounts.charge({"a": {"pure": Amount(Fraction(0)), "zcdp": Amount(Fraction(1, 10**9))}})
    assert not accounts.fits("a", limits)
    assert accounts.fits("untouched", limits)


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "A", "B", "C"]), st.sampled_from(["", "x"]), amounts),
        max_size=8,
    ),
    st.sampled_from([1, 2]),
    st.sampled_from([(), (("ward", "A"),), (("ward", "A"), ("sex", "x")), (("day", "1"),)]),
)
def test_what_a_part_has_left_fits_just_so(requests, touches, path):
    """The room that is told is granted, and a trifle more is not."""
    spent = Spent()
    for part, inner, amount in requests:
        way = ((("ward", part),) if part else ()) + ((("sex", inner),) if inner else ())
        spent.charge(pure(amount), way, touches)
    limit = spent.total("pure").amount + 1
    room = limit - spent.spent_before("pure", path, touches).amount
    assert room >= 1
    for more, fits in ((room, True), (room + Fraction(1, 10**9), False)):
        after = Spent.from_json(spent.to_json())
        after.charge(pure(more), path, touches)
        assert (after.total("pure").amount <= limit) == fits


def test_a_charge_that_a_filter_does_not_know_closes_it():
    spent = Spent()
    spent.charge({"pure": Amount(Fraction(1)), "gdp": None})
    spent.charge({"pure": Amount(Fraction(1)), "gdp": Amount(Fraction(1))})
    assert spent.total("pure") == Amount(Fraction(2))
    assert spent.total("gdp") is None


def test_a_unit_touches_one_part_or_two():
    for touches in (0, -1, 3):
        with pytest.raises(ValueError, match="cannot touch"):
            Spent().charge(pure(1), (("ward", "A"),), touches)


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("xy"), charges), max_size=8))
def test_the_most_expensive_parts_are_the_same_after_reading(requests):
    spent = Spent()
    for outer, inner, charge in requests:
        spent.charge(charge, (("ward", outer), ("sex", inner)), 2)
        again = Spent.from_json(spent.to_json())
        assert again.parts["ward"].largest == spent.parts["ward"].largest


@given(st.lists(st.tuples(st.sampled_from("ABC"), charges), max_size=8))
def test_a_copy_is_charged_by_itself(requests):
    accounts, written = Accounts(), []
    copies = [accounts.copy()]
    for part, charge in requests:
        written.append(accounts.to_json())
        accounts.charge({"unit:*": charge}, (("ward", part),))
        copies.append(accounts.copy())
    assert [copy.to_json() for copy in copies] == [*written, accounts.to_json()]
