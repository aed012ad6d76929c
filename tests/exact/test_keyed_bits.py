"""Bits that can be drawn again, and by nobody else."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from deniable.errors import InvalidParameter
from deniable.exact import bernoulli
from deniable.exact.keyed_bits import KeyedBits

KEY = bytes(range(32))


def test_the_same_label_gives_the_same_bits_however_they_are_asked_for():
    whole = KeyedBits(KEY, "a").draw(64, 10).tolist()
    source = KeyedBits(KEY, "a")
    assert [int(source.draw(64, 1)[0]) for _ in range(10)] == whole


def test_labels_and_secrets_matter():
    draws = {
        tuple(KeyedBits(secret, label).draw(64, 2).tolist())
        for secret in (KEY, KEY[::-1], KEY[:16])
        for label in ("a", "b", "a ", "")
    }
    assert len(draws) == 12


def test_bits_are_within_width_and_fair():
    assert KeyedBits(KEY, "a").draw(3, 1000).max() == 7
    heads = bernoulli(Fraction(1, 3), 20_000, source=KeyedBits(KEY, "coins"))
    assert binomtest(int(np.sum(heads)), 20_000, 1 / 3).pvalue > 1e-9


def test_a_short_secret_is_refused():
    with pytest.raises(InvalidParameter, match="16 bytes"):
        KeyedBits(b"short", "a")
