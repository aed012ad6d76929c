"""Bits that follow from a text."""

from fractions import Fraction

import numpy as np
from scipy.stats import binomtest

from deniable.exact import bernoulli
from deniable.exact.derived_bits import DerivedBits


def test_the_same_texts_give_the_same_bits_however_they_are_asked_for():
    whole = DerivedBits("a", "b").draw(64, 10).tolist()
    source = DerivedBits("a", "b")
    assert [int(source.draw(64, 1)[0]) for _ in range(10)] == whole


def test_every_text_and_its_end_matter():
    texts = [("a", "b"), ("ab",), ("ab", ""), ("", "ab"), ("b", "a"), ('a", "b',)]
    assert len({tuple(DerivedBits(*each).draw(64, 2).tolist()) for each in texts}) == len(texts)


def test_bits_are_within_width_and_fair():
    assert DerivedBits("a").draw(3, 1000).max() == 7
    heads = bernoulli(Fraction(1, 3), 20_000, source=DerivedBits("coins"))
    assert binomtest(int(np.sum(heads)), 20_000, 1 / 3).pvalue > 1e-9
