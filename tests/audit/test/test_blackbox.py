"""The bench: every broken mechanism is caught, and no right one is accused."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from deniable import (
    ApproximateLoss,
    GaussianLoss,
    Laplace,
    PureLoss,
    RandomizedResponse,
    Staircase,
    audit,
    shuffled,
)
from deniable.audit.test import blackbox
from deniable.audit.test.blackbox import plan_rounds
from deniable.errors import InvalidParameter
from tests.audit.bench import OTHERS, RIGHT, WRONG, Case, beside_harmless, laplace

CALLS = 10_000_000


@pytest.mark.parametrize("case", [*WRONG, *OTHERS], ids=lambda case: case.name)
def test_broken_mechanisms_are_caught(case):
    verdict = audit.test(case, case.neighbors, case.claim, calls=CALLS)
    assert verdict.violated, verdict
    assert verdict.calls <= CALLS
    assert str(verdict).startswith("violates")


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_right_mechanisms_are_not_accused(case, size):
    repetitions = size(small=1, full=20, what="audits of each right mechanism")
    calls = size(small=60_000, full=CALLS, what="calls in each of them")
    error = 1e-6 if repetitions == 1 else 1e-3
    for _ in range(repetitions):
        verdict = audit.test(case, case.neighbors, case.claim, calls=calls, error=error)
        assert not verdict.violated, verdict
        assert verdict.calls <= calls
        assert "no violation" in str(verdict)


BLATANT = ["noise of half the scale", "plain numpy Laplace", "NaN through clip"]


def count_caught(case, pairs, audits, calls):
    case = beside_harmless(case, pairs) if pairs else case
    return sum(
        audit.test(case, case.neighbors, case.claim, calls=calls).violated
        for _ in range(audits)
    )


def test_harmless_pairs_do_not_hide_a_broken_one(size):
    """Caught as often as alone, with the same calls, less one time in ten."""
    audits = size(small=1, full=10, what="audits of each broken mechanism and set of pairs")
    calls = size(small=100_000, full=10_000_000, what="calls in each of them")
    broken = sorted([*WRONG, *OTHERS], key=lambda case: case.name not in BLATANT)
    several = size(small=len(BLATANT), full=len(broken), what="broken mechanisms among others")
    caught = {
        case.name: [count_caught(case, pairs, audits, calls) for pairs in (0, 5, 20)]
        for case in broken[:several]
    }
    print(caught)
    assert all(min(counts) >= counts[0] - audits // 10 > 0 for counts in caught.values())


def test_noise_that_is_remembered_is_found_beside_harmless_pairs():
    """In the first round there are too few calls to search two calls in a row."""
    case = next(
        candidate for candidate in OTHERS if candidate.name == "every second noise mirrored"
    )
    assert count_caught(case, 5, 1, 400_000)


def test_no_more_right_mechanisms_are_accused_among_many_pairs(size):
    """Pairs that just keep the claim, judged at a rate that would show."""
    audits = size(small=5, full=600, what="audits of many tight pairs")
    pairs = [(2 * i, 2 * i + 1) for i in range(size(small=6, full=20, what="pairs"))]
    noise = Laplace(epsilon=1)
    accused = sum(
        audit.test(noise, pairs, calls=12_000, error=0.1).violated for _ in range(audits)
    )
    assert binom.sf(accused - 1, audits, 0.1) > 1e-6
    assert audit.test(Laplace(epsilon=2), pairs, PureLoss(1), calls=12_000).violated  # power


@pytest.mark.parametrize("pairs", [1, 9])
def test_all_that_is_tested_shares_one_error(pairs, monkeypatch):
    """The union bound: what all tests of an audit may err together is at most `error`."""
    spent = []
    confirm = blackbox.confirm_events

    def record(comparison, tests, count, error, delta):
        spent.append(len(tests) * error)
        return confirm(comparison, tests, count, error, delta)

    monkeypatch.setattr(blackbox, "confirm_events", record)
    neighbors = [(2 * i, 2 * i + 1) for i in range(pairs)]
    audit.test(Laplace(epsilon=1), neighbors, calls=70_000, error=1e-6)
    assert spent
    assert sum(spent) <= 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("pairs", [0, 20])
def test_floating_point_noise_is_accused_first_and_in_those_words(scale, pairs):
    """Even if the scale is wrong too."""
    case = Case("floats", lambda data, n: data + laplace(scale, n), [(0, 1)])
    case = beside_harmless(case, pairs) if pairs else case
    verdict = audit.test(case, case.neighbors, case.claim, calls=200_000)
    words = "floating-point noise: the low digits tell the inputs apart"
    assert str(verdict).startswith(f"violates PureLoss(1): {words}"), verdict


@pytest.mark.parametrize("name", ["a mean divided by the true n", "NaN through clip"])
def test_floats_that_are_exact_are_not_called_floating_point_noise(name):
    case = next(candidate for candidate in WRONG if candidate.name == name)
    verdict = audit.test(case, case.neighbors, case.claim, calls=60_000)
    assert verdict.violated
    assert "floating-point noise" not in str(verdict)


# Truths of epsilon_low.
SCORES = ([0, 1, 1, 1], [1, 0, 0, 0])


def exponential(epsilon):
    def law(scores):
        weights = np.exp(epsilon / 2 * np.array(scores, dtype=float))
        return weights / weights.sum()

    first, second = map(law, SCORES)
    truth = float(np.abs(np.log(first / second)).max())
    many = lambda data, n: np.random.default_rng().choice(4, size=n, p=law(data))  # noqa: E731
    return Case("exponential", many, [SCORES], PureLoss(epsilon)), truth


def smooth(epsilon):
    """Laplace noise on a grid a thousand times finer than the sensitivity."""
    noise = Laplace(epsilon=epsilon, sensitivity=1000)
    many = lambda data, n: noise.release(np.full(n, 1000 * data))  # noqa: E731
    return Case("Laplace", many, [(0, 1)], noise.loss), epsilon


def geometric(epsilon):
    noise = Laplace(epsilon=epsilon)
    return Case(
        "geometric", lambda data, n: noise.release(np.full(n, data)), [(0, 1)], noise.loss
    ), epsilon


def response(epsilon):
    coins = RandomizedResponse(epsilon=epsilon)
    many = lambda data, n: coins.randomize(np.full(n, data))  # noqa: E731
    return Case("randomized response", many, [(0, 1)], PureLoss(epsilon)), epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("make", [smooth, geometric, response, exponential])
def test_epsilon_low_comes_within_a_tenth(make, epsilon, size):
    case, truth = make(epsilon)
    few = 3_000_000 if epsilon < 1 else 500_000
    calls = size(small=few, full=CALLS, what="calls to bound epsilon from below")
    share = 0.6 if epsilon < 1 and calls < CALLS else 0.9  # a tenth of 0.1 takes them all
    verdict = audit.test(case, case.neighbors, case.claim, calls=calls)
    assert share * truth <= verdict.epsilon_low <= truth, verdict


def test_the_last_bits_give_numpy_away_in_ten_thousand_calls():
    case = next(candidate for candidate in WRONG if candidate.name == "plain numpy Laplace")
    assert audit.test(case, case.neighbors, case.claim, calls=10_000).violated


def test_our_own_mechanisms_bring_their_claim():
    verdict = audit.test(Laplace(epsilon=1), neighbors=[(0, 1)], calls=50_000, error=1e-9)
    assert not verdict.violated
    assert verdict.claim == PureLoss(1)
    assert 0.7 < verdict.epsilon_low < 1
    wider = audit.test(Laplace(epsilon=1), neighbors=[(0, 2)], calls=50_000)
    assert wider.violated


def test_staircase_noise_is_audited_as_it_is_released_alone(size):
    """Several numbers at once would get another shape."""
    stairs = Staircase(epsilon=3, sensitivity=5)
    calls = size(small=8_000, full=20_000, what="calls of single staircase noise")
    assert audit.test(stairs, [(0, 5)], PureLoss(2), calls=calls).violated
    assert not audit.test(stairs, [(0, 5)], calls=calls // 2, error=1e-9).violated


def test_a_plain_function_is_enough():
    noise = np.random.default_rng()

    def leaky(data):
        return "secret" if data and noise.random() < 0.1 else "nothing"

    verdict = audit.test(leaky, [(False, True)], PureLoss(1), calls=5_000)
    assert verdict.violated
    assert verdict.event.inputs == (True, False)
    assert verdict.event.low > verdict.event.high


def test_a_claim_with_delta():
    def tells(data, n):
        told = np.random.default_rng().random(n) < 0.01
        return np.where(told, 100 + data, Laplace(epsilon=1).release(np.full(n, data)))

    case = Case("tells", tells, [(0, 1)])
    assert audit.test(case, case.neighbors, ApproximateLoss(1, 0.005), calls=CALLS).violated
    fair = audit.test(case, case.neighbors, ApproximateLoss(1, 0.01), calls=200_000, error=1e-9)
    assert not fair.violated
    assert fair.delta == 0.01
    finding = audit.test(case, case.neighbors, ApproximateLoss(2, 0.001), calls=CALLS)
    assert 0.001 < finding.delta_low <= 0.01
    assert audit.test(case, case.neighbors, GaussianLoss(1), calls=CALLS).violated


@pytest.mark.parametrize(
    "claim",
    [shuffled(RandomizedResponse(odds=3), reports=100), PureLoss(0.1) * 10],
    ids=["shuffled", "a sum"],
)
def test_a_claim_is_more_than_its_epsilon_at_delta_zero(claim):
    """Odds of 2 are within the claim, but not for an event of probability 0.2."""

    def rare(data, n):
        return np.random.default_rng().random(n) < (0.2 if data else 0.1)

    case = Case("rare", rare, [(0, 1)])
    assert claim.epsilon() > math.log(2)
    assert audit.test(case, case.neighbors, claim, calls=60_000).violated


def test_time_can_be_limited():
    verdict = audit.test(
        Laplace(epsilon=1), neighbors=[(0, 1)], calls=10**12, seconds=0.5, error=1e-9
    )
    assert verdict.calls < 10**10
    assert not verdict.violated
    nothing = audit.test(Laplace(epsilon=1), neighbors=[(0, 1)], calls=10**6, seconds=0)
    assert (nothing.violated, nothing.epsilon_low, nothing.event) == (False, 0.0, None)


def test_a_mechanism_that_always_fails_is_not_audited():
    def broken(data):
        raise KeyError("slip")

    with pytest.raises(KeyError, match="slip"):
        audit.test(broken, [(0, 1)], PureLoss(1), calls=1000)


@pytest.mark.parametrize(
    "bad",
    [
        {"neighbors": []},
        {"neighbors": [(0,)]},
        {"claim": None},
        {"claim": 1},
        {"calls": 0},
        {"error": 0},
        {"error": 2},
        {"mechanism": 7},
    ],
    ids=str,
)
def test_bad_requests_are_refused(bad):
    good = {"mechanism": lambda data: data, "neighbors": [(0, 1)], "claim": PureLoss(1)}
    with pytest.raises(InvalidParameter):
        audit.test(**{**good, **bad})


def test_rounds_use_all_calls_and_all_error():
    for calls in (100, 50_000, 10**7, 10**9):
        planned = plan_rounds(calls, 1e-3)
        assert sum(n for n, _ in planned) == calls
        assert math.isclose(sum(error for _, error in planned), 1e-3)
        assert planned[-1][1] >= 0.6e-3


def test_the_test_is_not_collected_as_a_test():
    assert audit.test.__test__ is False


class Given:
    """Whatever is asked, the same comes back."""

    def __init__(self, outputs):
        self.outputs = outputs

    def many(self, data, n):
        return self.outputs


@pytest.mark.parametrize("outputs", [[1, 2, 3], None, "ab", 5])
def test_many_must_return_as_many_as_asked(outputs):
    with pytest.raises(InvalidParameter, match="n outputs"):
        audit.test(Given(outputs), [(0, 1)], PureLoss(1), calls=1_000)


@pytest.mark.parametrize("seconds", [-1, math.nan, "soon"])
def test_a_time_that_is_none_is_refused(seconds):
    with pytest.raises(InvalidParameter, match="`seconds`"):
        audit.test(Laplace(epsilon=1), [(0, 1)], calls=1_000, seconds=seconds)


@pytest.mark.parametrize("wrap", [str, lambda text: (text, 3)])
def test_text_is_named(wrap):
    generator = np.random.default_rng()

    def telltale(x):
        return wrap("often" if generator.random() < (0.9 if x else 0.1) else "seldom")

    verdict = audit.test(telltale, [(0, 1)], PureLoss(1), calls=20_000)
    assert verdict.violated
    assert "'often'" in str(verdict) or "'seldom'" in str(verdict)
    assert "kind of" not in str(verdict)
