import copy
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.audit import check
from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Estimate, Estimates, RandomizedResponse
from deniable.privacy import PureLoss
from tests.mechanisms.contract import Claims, MechanismContract

PROBABILITIES = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


class ResponseContract(MechanismContract):
    def test_it_is_a_value(self):
        again = copy.copy(self.mechanism)
        assert again == self.mechanism
        assert hash(again) == hash(self.mechanism)
        assert self.mechanism not in (self.must_be_told_apart, self.half_noise)

    def draw(self, mechanism, value):
        return Counter(mechanism.randomize(np.full(self.draws, value)).tolist())

    def test_reports_of_an_answer_add_up_to_one(self):
        for answer in range(self.mechanism.categories):
            reports = range(self.mechanism.categories)
            assert sum(self.mechanism.pmf(report, answer) for report in reports) == 1

    def test_the_loss_is_attained(self):
        k = range(self.mechanism.categories)
        worst = max(
            self.mechanism.pmf(y, a) / self.mechanism.pmf(y, b) for y in k for a in k for b in k
        )
        assert self.mechanism.loss == PureLoss(odds=worst)


class TestTwoCoins(ResponseContract):
    mechanism = RandomizedResponse.from_coins()
    neighbors = ((0, 1),)
    outputs = range(2)
    must_be_told_apart = RandomizedResponse(odds=Fraction(33, 10))
    half_noise = RandomizedResponse(odds=9)


class TestByEpsilon(ResponseContract):
    mechanism = RandomizedResponse(epsilon=1, categories=4)
    neighbors = ((0, 1, 2, 3),)
    outputs = range(4)
    must_be_told_apart = RandomizedResponse(epsilon=1.1, categories=4)
    half_noise = RandomizedResponse(epsilon=2, categories=4)


class TestSkewedCoins(ResponseContract):
    mechanism = RandomizedResponse.from_coins(truth=0.25, yes=0.75)
    neighbors = ((1, 0),)
    outputs = range(2)
    must_be_told_apart = RandomizedResponse.from_coins(truth=0.25, yes=0.8)
    half_noise = RandomizedResponse.from_coins(truth=0.5, yes=0.75)

    def test_it_is_a_channel(self):
        assert self.mechanism == RandomizedResponse.channel(Fraction(13, 16), Fraction(9, 16))


def test_epsilon_by_symmetry_is_caught():
    coins = RandomizedResponse.from_coins(truth=0.1, yes=0.1)  # the symmetric ln(1.1/0.9) lies
    assert check(
        Claims(coins, RandomizedResponse(odds=Fraction(11, 9))), [(0, 1)], (0, 1)
    ).violated


@pytest.mark.parametrize(
    ("bias", "epsilon"),
    [
        (0.1, 0.747214),
        (0.25, 0.847298),
        (0.5, 1.098612),
        (0.6, 1.558145),
        (0.75, 2.564949),
        (0.9, 4.510860),
    ],
)
def test_two_coins_of_one_bias(bias, epsilon):
    loss = RandomizedResponse.from_coins(truth=bias, yes=bias).loss
    assert loss.epsilon() == pytest.approx(epsilon, abs=5e-7)


def test_known_losses():
    assert RandomizedResponse.from_coins().loss.epsilon() == math.log(3)
    assert RandomizedResponse.from_coins(0.5, Fraction(1, 12)).loss == PureLoss(odds=13)
    assert RandomizedResponse.warner(0.25).loss == PureLoss(odds=3)
    assert RandomizedResponse.warner(0.25).p < RandomizedResponse.warner(0.25).q
    assert float(RandomizedResponse(epsilon=1).p) == pytest.approx(0.731059, abs=5e-7)


@given(
    st.fractions(Fraction(1, 10**6), 50) | st.sampled_from([1000, Fraction(1, 2**80)]),
    st.integers(2, 9),
)
def test_epsilon_is_never_exceeded_and_nearly_reached(epsilon, k):
    mechanism = RandomizedResponse(epsilon=epsilon, categories=k)
    assert mechanism.p + (k - 1) * mechanism.q == 1
    derived = mechanism.loss.epsilon()
    assert float(epsilon) * (1 - 1e-15) <= derived <= math.nextafter(float(epsilon), math.inf)
    assert mechanism.loss.fits(PureLoss(epsilon))


@given(PROBABILITIES)
def test_forms_convert_without_loss(a):
    coins = RandomizedResponse.from_coins(truth=a)
    assert coins == RandomizedResponse.from_gamma(a / 2)
    assert coins == RandomizedResponse.warner((1 + a) / 2)
    assert coins == RandomizedResponse(odds=(1 + a) / (1 - a))


@given(PROBABILITIES, PROBABILITIES)
def test_two_coins_cost_what_the_formula_says(a, s):
    odds = 1 + a / ((1 - a) * min(s, 1 - s))
    assert RandomizedResponse.from_coins(truth=a, yes=s).loss == PureLoss(odds=odds)


def test_warner_estimate():
    estimate = RandomizedResponse.warner(Fraction(3, 4)).estimate(counts=(600, 400))
    assert isinstance(estimate, Estimate)
    assert estimate.value == estimate.raw == pytest.approx(0.3)
    assert estimate.standard_error == pytest.approx(0.030984, abs=5e-7)  # divisor n
    assert estimate.interval == pytest.approx((0.2389, 0.3622), abs=5e-5)
    none = RandomizedResponse.warner(Fraction(3, 4)).estimate(counts=(10, 0))
    assert (none.raw, none.value) == (-0.5, 0)
    assert none.interval == pytest.approx((0, 0.1170), abs=5e-5)
    assert none.standard_error > 0


def test_estimate_of_categories():
    estimates = RandomizedResponse(odds=6, categories=3).estimate(counts=(520, 300, 180))
    assert isinstance(estimates, Estimates)
    assert estimates.value == pytest.approx((0.632, 0.28, 0.088))
    assert sum(estimates.raw) == pytest.approx(1)
    assert len(estimates) == len(estimates.interval) == len(estimates.standard_error) == 3
    for estimate in estimates:
        assert estimate.interval[0] < estimate.value < estimate.interval[1]
    raw = RandomizedResponse(odds=6, categories=3).estimate(counts=(700, 250, 50)).raw
    assert raw == pytest.approx((0.92, 0.20, -0.12))


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomizedResponse.from_coins(),
        RandomizedResponse.from_coins(truth=0.4, yes=0.2),
        RandomizedResponse.warner(0.3),
        RandomizedResponse(epsilon=1, categories=5),
    ],
    ids=["coins", "skewed coins", "negative slope", "five"],
)
def test_the_truth_is_recovered(mechanism):
    n, k = 100_000, mechanism.categories
    truth = np.arange(n) % 10 % k
    estimates = mechanism.estimate(mechanism.randomize(truth), confidence=1 - 1e-9)
    shares = np.bincount(truth, minlength=k) / n
    for estimate, actual in zip(
        [estimates] if k == 2 else estimates, shares[1:] if k == 2 else shares, strict=True
    ):
        assert estimate.interval[0] <= actual <= estimate.interval[1]
        assert estimate.margin < 0.12


@pytest.mark.parametrize("k", [2, 5])
def test_squared_errors_are_those_of_theory(k, size):
    groups = size(small=1000, full=40_000, what=f"groups of 100 people, {k} answers")
    design = RandomizedResponse(epsilon=1, categories=k)
    answers = np.arange(100) % 10 % k
    truth = np.bincount(answers, minlength=k) / 100
    reports = design.randomize(np.tile(answers, groups)).reshape(groups, 100)
    squares = []
    for some in reports:
        raw = design.estimate(some).raw
        squares.append((np.array([1 - raw, raw] if k == 2 else raw) - truth) ** 2)
    theory = [
        design.variance(share, respondents=100, population=False) for share in truth.tolist()
    ]
    # The standard deviation of each ratio is 3.2 % at 2,000 groups, 0.7 % at 40,000.
    within = 0.1 if groups >= 40_000 else 0.2
    assert np.mean(squares, axis=0) == pytest.approx(np.array(theory), rel=within)


def test_responses_and_their_counts_agree():
    coins = RandomizedResponse.from_coins()
    reports = [True] * 4 + [False] * 6
    assert coins.aggregate(reports).counts == (6, 4)
    assert coins.estimate(reports) == coins.estimate(counts=(6, 4))
    assert coins.estimate(np.array(reports)) == coins.estimate(counts=np.array([6, 4]))


def test_the_same_shape_and_kind_come_back():
    coins, four = RandomizedResponse.from_coins(), RandomizedResponse(odds=3, categories=4)
    assert type(coins.randomize(True)) is bool
    assert type(coins.randomize(1)) is int
    assert {type(value) for value in coins.randomize([True, False])} == {bool}
    assert {type(value) for value in coins.randomize([1, 0])} == {int}
    assert [len(row) for row in four.randomize([[0, 3], [1, 2], [2, 2]])] == [2, 2, 2]
    assert coins.randomize(np.zeros((3, 2), dtype=bool)).dtype == bool
    assert four.randomize(np.zeros((3, 2), dtype=np.uint8)).shape == (3, 2)
    assert set(four.randomize(np.zeros(1000, dtype=int)).tolist()) == {0, 1, 2, 3}


BAD = [[], None, "yes", ["yes"], [0.0, 1.0], [5], [-5], [True, 0], [[1], [1, 0]], {}, [None]]


@pytest.mark.parametrize(
    "bad", [*BAD, np.array([0.5]), np.array([5]), np.ma.masked_array([1])], ids=str
)
def test_bad_answers_are_refused_without_being_quoted(bad):
    for act in (
        RandomizedResponse.from_coins().randomize,
        RandomizedResponse(odds=3).aggregate,
    ):
        with pytest.raises(InvalidData) as caught:
            act(bad)
        assert "5" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: RandomizedResponse.warner(0.5), "must differ"),
        (lambda: RandomizedResponse.warner(1), "infinite"),
        (lambda: RandomizedResponse.from_coins(truth=0), "must differ"),
        (lambda: RandomizedResponse.from_coins(truth=1), "infinite"),
        (lambda: RandomizedResponse.from_coins(yes=0), "infinite"),
        (lambda: RandomizedResponse.from_coins(yes=1), "infinite"),
        (lambda: RandomizedResponse.from_coins(truth=2), "truth"),
        (lambda: RandomizedResponse.from_gamma(0.5), "gamma"),
        (lambda: RandomizedResponse.from_gamma(0), "gamma"),
        (lambda: RandomizedResponse(epsilon=0), "epsilon"),
        (lambda: RandomizedResponse(epsilon="1"), "epsilon"),
        (lambda: RandomizedResponse(odds=1), "odds"),
        (lambda: RandomizedResponse(odds=3, categories=1), "categories"),
        (RandomizedResponse, "either"),
        (lambda: RandomizedResponse(odds=3).estimate(), "either"),
        (lambda: RandomizedResponse(odds=3).estimate([1], counts=(0, 1)), "either"),
        (lambda: RandomizedResponse(odds=3).estimate(counts=(1, -1)), "counts"),
        (lambda: RandomizedResponse(odds=3).estimate([1], confidence=1), "confidence"),
    ],
)
def test_bad_designs_are_refused_with_the_reason(make, match):
    with pytest.raises(InvalidParameter, match=match):
        make()


@pytest.mark.parametrize("counts", [(0, 0), (1, 2, 3), ()])
def test_bad_counts(counts):
    with pytest.raises(InvalidData):
        RandomizedResponse(odds=3).estimate(counts=counts)


def test_forced_designs():
    sixth = Fraction(1, 6)
    die = RandomizedResponse.forced(4 * sixth, yes=sixth, no=sixth)
    assert die.loss.epsilon() == pytest.approx(1.609438, abs=5e-7)
    assert die == RandomizedResponse.from_coins(truth=Fraction(2, 3))
    skewed = RandomizedResponse.forced(0.5, yes=0.2, no=0.3)
    assert skewed.loss == PureLoss(odds=Fraction(7, 2))  # the larger of 0.7/0.2 and 0.8/0.3
    with pytest.raises(InvalidParameter, match="add up to 1"):
        RandomizedResponse.forced(0.5, yes=0.2, no=0.2)


def test_designs_that_rest_on_an_innocuous_trait_say_so():
    for design in (RandomizedResponse.crosswise(0.25), RandomizedResponse.unrelated(0.5, 0.25)):
        assert "innocuous" in design.caveat
    assert RandomizedResponse.from_coins().caveat == ""
    assert RandomizedResponse.crosswise(0.25).loss == PureLoss(odds=3)
    assert RandomizedResponse.unrelated(0.5, Fraction(1, 12)).loss == PureLoss(odds=13)
    crosswise = RandomizedResponse.crosswise(0.25)  # a negative slope
    assert crosswise.estimate(counts=(400, 600)).value == pytest.approx(0.3)
    assert crosswise != RandomizedResponse.warner(0.25)


def test_the_matrix_is_the_channel():
    five = RandomizedResponse(odds=6, categories=5)
    assert all(sum(column) == 1 for column in zip(*five.matrix, strict=True))
    assert five.matrix[2][2] == five.p
    assert five.matrix[1][4] == five.q


def test_wilson_is_inside_and_shorter():
    coins = RandomizedResponse.from_coins()
    exact = coins.estimate(counts=(600, 400))
    wilson = coins.estimate(counts=(600, 400), method="wilson")
    assert exact.interval[0] < wilson.interval[0] < 0.3 < wilson.interval[1] < exact.interval[1]
    with pytest.raises(InvalidParameter, match="wilson"):
        coins.estimate(counts=(6, 4), method="wald")


@pytest.mark.parametrize("k", [2, 3, 6])
def test_variance_is_that_of_the_estimate(k):
    design = RandomizedResponse(epsilon=1, categories=k)
    truth = np.arange(200_000) % (k + 3) % k
    groups = truth.reshape(2000, 100)
    first = 1 if k == 2 else 0
    errors, theory = [], []
    for some, reports in zip(groups, design.randomize(groups), strict=True):
        shares = np.bincount(some, minlength=k)[first:] / 100
        estimate = design.estimate(reports)
        raw = [estimate.raw] if k == 2 else estimate.raw
        errors.append(np.square(np.array(raw) - shares).mean())
        theory.append(
            np.mean([design.variance(x, respondents=100, population=False) for x in shares])
        )
    assert np.mean(errors) == pytest.approx(np.mean(theory), rel=0.2)
