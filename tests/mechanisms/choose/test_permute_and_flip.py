"""Permute-and-flip: its contract, its law by all coin strings, never worse than exponential."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.mechanisms import Exponential, PermuteAndFlip
from deniable.mechanisms.choose.permute_and_flip import choose_by_coins, coin_probabilities
from deniable.mechanisms.choose.scores import read_scores
from deniable.privacy import PureLoss
from tests.exact.enumeration import enumerate_coins
from tests.mechanisms.choice import ChoiceContract


class TestPermuteAndFlip(ChoiceContract):
    mechanism = PermuteAndFlip(epsilon=1)


class TestStrongPermuteAndFlip(ChoiceContract):
    mechanism = PermuteAndFlip(epsilon=Fraction(5, 2))


def test_known_error_probabilities():
    mechanism = PermuteAndFlip(epsilon=1)
    assert mechanism.pmf([1, 0])[1] == pytest.approx(0.30326533, abs=5e-9)
    assert mechanism.pmf([4, 0])[1] == pytest.approx(0.0676676, abs=5e-8)
    assert 1 - mechanism.pmf([10] + [0] * 99)[0] == pytest.approx(0.27071, abs=5e-6)
    assert mechanism.loss == PureLoss(1)


def by_definition(chances):
    """All orders, all coins: the first in the order that shows heads is taken."""
    law = Counter()
    orders = list(permutations(range(len(chances))))
    for order, coins in product(orders, product([False, True], repeat=len(chances))):
        weight = np.prod([p if c else 1 - p for p, c in zip(chances, coins, strict=True)])
        first = next((i for i in order if coins[i]), None)
        law[first] += weight / len(orders)
    return [law[i] for i in range(len(chances))]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_the_law_is_that_of_the_definition(behind):
    behind = np.array(behind, dtype=float) - min(behind)
    assert coin_probabilities(behind).tolist() == pytest.approx(
        by_definition(np.exp(-behind)), abs=1e-12
    )


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40))
def test_it_loses_no_more_than_the_exponential_mechanism(scores):
    scores = np.array(scores)
    flip_, exponential = (kind(epsilon=1).pmf(scores) for kind in (PermuteAndFlip, Exponential))
    for threshold in range(13):
        assert flip_[scores < threshold].sum() <= exponential[scores < threshold].sum() + 1e-12


@pytest.mark.parametrize("scores", [[0, 1], [2, 0, 1], [3, 3, 1]], ids=str)
def test_all_coin_strings_bracket_the_law(scores, size):
    depth = size(small=12, full=18, what="coins deep, all strings of permute-and-flip")
    mechanism = PermuteAndFlip(epsilon=1)
    known = read_scores(scores, step=None, sensitivity=Fraction(1))
    strings = enumerate_coins(
        lambda source: choose_by_coins(
            known, mechanism.rate(known), source=source, word_bits=2
        ),
        depth,
    )
    assert sum(strings.mass.values()) > Fraction(1, 2)
    for i in range(len(scores)):
        lo, hi = mechanism.pmf_bounds(i, scores, 100)
        assert strings.brackets(i, Fraction(lo, 2**100), Fraction(hi, 2**100))


@pytest.mark.parametrize("shape", ["one best", "many best", "a crowd", "a ladder"])
def test_laws_of_thousands_add_up(shape):
    n = 5_000
    behind = {
        "one best": np.r_[0.0, np.full(n - 1, 20.0)],
        "many best": np.r_[np.zeros(n // 2), np.full(n // 2, 3.0)],
        "a crowd": np.r_[0.0, np.full(n - 1, 4.0)],
        "a ladder": np.arange(n) / 50,
    }[shape]
    law = coin_probabilities(behind)
    assert law.sum() == pytest.approx(1, abs=1e-11)
    assert (law > 0).all()


def test_a_million_candidates_at_once():
    assert PermuteAndFlip(epsilon=1).release(np.arange(1_000_000)) > 999_000
