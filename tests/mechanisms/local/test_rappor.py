from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.mechanisms import Rappor
from deniable.privacy import PureLoss
from tests.mechanisms.contract import THRESHOLD, fit

SMALL = Rappor(bits=4, hashes=2, cohorts=2)
VALUES = [str(i) for i in range(30)]


def test_published_losses():
    assert Rappor().loss.epsilon() == pytest.approx(4.394449, abs=5e-7)
    assert Rappor().loss_once.epsilon() == pytest.approx(1.074286, abs=5e-7)
    assert Rappor().rates == (Fraction("0.6875"), Fraction("0.5625"))


@pytest.mark.parametrize("hashes", [1, 2])
def test_one_report_keeps_the_odds_and_some_attains_them(hashes):
    design = Rappor(bits=4, hashes=hashes, cohorts=2)
    reports = [(c, *bits) for c in (0, 1) for bits in product((0, 1), repeat=4)]
    laws = [[design.pmf(r, v) for r in reports] for v in VALUES]
    assert all(sum(law) == 1 for law in laws)
    worst = max(
        a / b
        for first, other in permutations(laws, 2)
        for a, b in zip(first, other, strict=True)
    )
    assert design.loss_once == PureLoss(odds=worst)


@pytest.mark.parametrize("hashes", [1, 2])
def test_permanent_noise_keeps_the_odds_and_some_attains_them(hashes):
    design = Rappor(bits=4, hashes=hashes, cohorts=1)
    half = design.f / 2

    def chance(bits, value):
        probability = Fraction(1)
        for bit, true in zip(bits, design.bloom(value, 0), strict=True):
            share = 1 - half if true else half
            probability *= share if bit else 1 - share
        return probability

    outputs = list(product((0, 1), repeat=4))
    laws = [[chance(bits, value) for bits in outputs] for value in VALUES]
    worst = max(
        a / b for law, other in permutations(laws, 2) for a, b in zip(law, other, strict=True)
    )
    assert design.loss == PureLoss(odds=worst)


def test_the_sampler_follows_pmf_and_nothing_near_it():
    counts = Counter(map(tuple, SMALL.randomize(["7"] * 200_000).tolist()))
    assert fit(counts, SMALL, "7") > THRESHOLD
    assert fit(counts, Rappor(bits=4, cohorts=2, f=Fraction(9, 20)), "7") < THRESHOLD


def test_a_client_follows_pmf_and_remembers():
    counts = Counter(
        tuple(SMALL.client(i.to_bytes(16, "big")).report("7")) for i in range(5_000)
    )
    assert fit(counts, SMALL, "7") > THRESHOLD
    me = SMALL.client(b"a secret of mine")
    assert len({tuple(me.permanent("7")) for _ in range(50)}) == 1
    assert len({tuple(me.report("7")) for _ in range(50)}) > 1
    assert len({report[0] for report in (me.report("7") for _ in range(50))}) == 1
    assert b"secret" not in repr(me).encode()


def test_permanent_noise_is_fair_over_people():
    ones = np.array(
        [SMALL.client(i.to_bytes(16, "big")).permanent("7") for i in range(2000)], dtype=float
    )
    cohorts = np.array([SMALL.client(i.to_bytes(16, "big")).cohort for i in range(2000)])
    for c in (0, 1):
        expected = [0.75 if bit else 0.25 for bit in SMALL.bloom("7", c)]
        assert ones[cohorts == c].mean(axis=0) == pytest.approx(expected, abs=0.1)


def test_batches_add_up_to_the_whole():
    reports = SMALL.randomize(["a", "b"] * 50)
    parts = [SMALL.aggregate(some) for some in np.split(reports, 4)]
    assert sum(parts) == SMALL.aggregate(reports)


def test_bad_data_and_parameters_are_refused():
    for wrong in ({"f": 0}, {"f": 1}, {"p": 0.75}, {"bits": 0}, {"q": 2}, {"cohorts": 1.5}):
        with pytest.raises(InvalidParameter):
            Rappor(**wrong)
    for bad in ([], [7]):
        with pytest.raises(InvalidData, match="text"):
            SMALL.randomize(bad)
    for bad in ([[0, 0, 0]], [[2, 0, 0, 0, 0]], [[0, 2, 0, 0, 0]], np.zeros((0, 5))):
        with pytest.raises(InvalidData):
            SMALL.aggregate(bad)
    assert SMALL.pmf((2, 0, 0, 0, 0), "7") == 0


def test_a_report_that_tells_all_about_its_permanent_bits_costs_as_they_do():
    assert Rappor(p=0, q=1).loss_once.epsilon() <= Rappor(p=0, q=1).loss.epsilon()


def test_neither_questions_nor_designs_share_their_noise():
    """Equal values with equal noise would show in the reports: the two answers are equal."""
    wide = Rappor(bits=200, cohorts=1)
    secret = b"a secret of mine"
    clients = (
        wide.client(secret),
        wide.client(secret, question="a"),
        wide.client(secret, question="b"),
        Rappor(bits=200, cohorts=1, f=Fraction(9, 20)).client(secret),
    )
    noise = [client.permanent("7") for client in clients]
    for bits, other in combinations(noise, 2):
        assert 40 < sum(a != b for a, b in zip(bits, other, strict=True)) < 160
    assert clients[1].permanent("7") == wide.client(secret, question="a").permanent("7")


def test_more_cohorts_than_two_bytes_hold():
    many = Rappor(bits=2, hashes=1, cohorts=100_000)
    reports = many.randomize(["blue"] * 2000)
    assert int(reports[:, 0].max()) >= 1 << 16  # a third of all cohorts: 2,000 never miss them
    table = np.array(many.aggregate(reports).counts).reshape(100_000, 3)
    assert table[:, 0].sum() == 2000
    assert table[1 << 16 :, 0].sum() == (reports[:, 0] >= 1 << 16).sum()
