from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.infer.groups.group_means import Variances, find_group
from deniable.mechanisms import Laplace
from tests.infer.simulated import laplace, released_shares


def test_limits_of_the_rows_fail_as_rarely_as_they_say():
    rng = np.random.default_rng(1)
    shares = released_shares(rng, units=70, share=0.2, epsilon=0.3, releases=20_000)
    fewest, most = shares.row_limits(Fraction(1, 100))
    error = 4 * np.sqrt(0.01 / 20_000)
    assert (most < 70).mean() <= 0.01 + error
    assert (fewest > 70).mean() <= 0.01 + error
    assert (most < 70).mean() > 0.005


def test_a_group_of_few_rows_keeps_the_middle_of_its_range():
    rng = np.random.default_rng(1)
    shares = released_shares(rng, units=1, share=0.5, epsilon=0.1, releases=200)
    assert set(shares.values[shares.below <= 0]) == {0.5}
    assert ((shares.values >= 0) & (shares.values <= 1)).all()


def test_one_group_by_itself():
    rng = np.random.default_rng(1)
    shares = released_shares(rng, units=100, share=0.5, epsilon=1, releases=3)
    assert shares.at(1).groups == (1,)
    assert shares.at(1).values == shares.values[1:2]


def test_the_noise_of_a_mean_depends_on_the_mean():
    """At r the noise is that of (1 - r) Z - r Z': widest at 0 and 1."""
    shares = released_shares(
        np.random.default_rng(1), units=100, share=0.5, epsilon=0.01, releases=3
    )
    at = shares.noise_law()(np.array([0.0, 0.5, 1.0]), Fraction(19, 20))
    assert at[0] == pytest.approx(Laplace(epsilon=0.01).margin(), rel=0.01)
    assert at[1] == pytest.approx(at[0] / 2 * 1.32, rel=0.05)
    assert at[0] == pytest.approx(at[2])


def test_an_upper_limit_of_a_variance_holds_for_laplace_noise():
    rng = np.random.default_rng(3)
    noisy = 40 + laplace(rng, 0.2, 100_000)
    margin = Laplace(epsilon=0.2).margin(0.9)
    limits = Variances(noisy, np.full(noisy.size, margin), Fraction(9, 10))
    assert (limits.most(Fraction(1, 1000)) < 40).mean() <= 0.0015


def test_a_variance_that_was_cut_at_0_keeps_the_width_of_its_noise():
    """Of a noise of -25 the answer is 0 and its margin 5, and twice 5 would be too little."""
    shown = np.array([0.0, 30.0])
    variances = Variances(shown, np.array([5.0, 29.0]), Fraction(9, 10), uncut=np.full(2, 30.0))
    assert variances.most(Fraction(1, 100)).tolist() == [60.0, 88.0]
    assert variances.at(0).most(Fraction(1, 100)).tolist() == [60.0]
    rooted = Variances(shown[:1], np.array([5.0]), Fraction(9, 10), True, np.full(1, 30.0))
    assert rooted.most(Fraction(1, 100)).tolist() == [100.0]


def test_keys_are_found_by_type_and_value():
    assert find_group((1, True, "1"), True) == 1
    assert find_group((("A", 1), ("A", 2)), ["A", 2]) == 1
    with pytest.raises(InvalidParameter, match=r"no group 'C'\. Its groups are 'A', 'B'"):
        find_group(("A", "B"), "C")
