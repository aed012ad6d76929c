"""Inverse sensitivity: private for every kind of question, and as good as it claims to be."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import chisquare

from deniable.errors import InvalidData, InvalidParameter, MissingRelation
from deniable.mechanisms import InverseSensitivity, Majority
from deniable.privacy import PureLoss, RangeLoss
from tests.mechanisms.enumeration import check
from tests.mechanisms.tables import neighbors

F = Fraction
RELATIONS = ["add-remove", "replace"]


class Nonempty:
    """A mechanism on tables, each law computed once."""

    def __init__(self, mechanism, claim=None):
        self.loss = (claim or mechanism).loss
        self.pmf_bounds = cache(
            lambda output, table, bits=256: mechanism.pmf_bounds(output, list(table), bits)
        )


def proved(mechanism, relation, values=4, *, least=0, claim=None):
    pairs = [pair for pair in neighbors(relation, 4, values) if min(map(len, pair)) >= least]
    assert pairs
    return check(Nonempty(mechanism, claim), pairs, mechanism.outputs)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("q", [F(0), F(1, 3), F(1, 2), F(9, 10), F(1)])
def test_quantiles_keep_the_loss_over_all_small_tables(relation, q):
    mechanism = InverseSensitivity.quantile(q, range(4), epsilon=1, neighbors=relation)
    verdict = proved(mechanism, relation, least=relation == "replace")
    assert verdict.private, verdict.event
    assert verdict.missing < 1e-12


@pytest.mark.parametrize("relation", RELATIONS)
def test_modes_keep_the_loss(relation):
    mechanism = InverseSensitivity.mode(range(4), epsilon=1, neighbors=relation)
    verdict = proved(mechanism, relation)
    assert verdict.private, verdict.event


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("odds", [2, F(1001, 1000), 50])
def test_majorities_keep_the_loss_at_twice_the_strength(relation, odds):
    mechanism = InverseSensitivity.majority((0, 1), odds=odds, neighbors=relation)
    verdict = proved(mechanism, relation, 2)
    assert verdict.private, verdict.event
    assert mechanism.loss == PureLoss(odds=odds)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("step", "epsilon"), [(F(1, 2), 1), (F(1), 3), (F(2), F(1, 10))])
def test_means_keep_the_loss(relation, step, epsilon):
    mechanism = InverseSensitivity.mean(0, 3, step=step, epsilon=epsilon, neighbors=relation)
    verdict = proved(mechanism, relation, least=relation == "replace")
    assert verdict.private, verdict.event


def test_means_of_tables_that_grow_are_near():
    mechanism = InverseSensitivity.mean(0, 100, epsilon=1, neighbors="add-remove")
    data = np.repeat([10, 50, 60], [2000, 5000, 3000])
    assert abs(mechanism.release(data) - F(data.sum().item(), data.size)) <= 1
    assert sum(mechanism.pmf([]).values()) == pytest.approx(1)


@pytest.mark.parametrize("relation", RELATIONS)
def test_searched_questions_keep_the_loss(relation):
    def spread(table):
        return max(table) - min(table) if table else 0

    for records in (2, 4):
        mechanism = InverseSensitivity.search(
            spread, range(4), records=records, epsilon=1, neighbors=relation
        )
        pairs = [
            pair
            for pair in neighbors(relation, records, 4)
            if relation == "add-remove" or len(pair[0]) == records
        ]
        verdict = check(Nonempty(mechanism), pairs, mechanism.outputs)
        assert verdict.private, verdict.event


def test_the_sharper_exponent_is_caught_where_no_answer_may_be_right():
    """Two answers, and a table in the middle that has neither."""

    def side(table):
        return {0: "low", 1: None, 2: None, 3: "high"}[table[0]] if table else None

    mechanism = InverseSensitivity.search(
        side, range(4), records=1, epsilon=1, neighbors="replace"
    )
    assert not mechanism.exhaustive
    assert mechanism.loss == RangeLoss(1)
    line = [(0, 2), (1, 1), (2, 0)]  # distances along a chain that skips the answer
    sharp = InverseSensitivity(
        ("low", "high"), lambda place: list(line[place]), epsilon=1, neighbors="replace"
    )
    assert check(sharp, [(0, 1), (1, 2)], sharp.outputs).private
    object.__setattr__(sharp, "exhaustive", True)
    with pytest.raises(InvalidData, match="exhaustive"):
        sharp.release(1)

    class Twice:
        loss = PureLoss(1)
        pmf_bounds = staticmethod(
            lambda output, place, bits=256: replace(
                InverseSensitivity(
                    ("low", "high"),
                    lambda p: [2 * d for d in line[p]],
                    epsilon=1,
                    neighbors="replace",
                )
            ).pmf_bounds(output, place, bits)
        )

    assert check(Twice(), [(0, 1), (1, 2)], sharp.outputs).violated


def test_a_distance_in_the_wrong_relation_is_caught():
    wrong = InverseSensitivity.majority((0, 1), epsilon=1, neighbors="add-remove")
    assert proved(wrong, "replace", 2).violated


def test_majority_against_the_best_rule():
    votes = {True: 520, False: 481}
    inverse = InverseSensitivity.majority(epsilon=0.1, neighbors="replace").pmf(votes)
    best = Majority(epsilon=0.1, neighbors="replace").pmf(votes)
    assert inverse[False] == pytest.approx(0.119203, abs=5e-7)
    assert best[False] < inverse[False] < 2 * best[False]


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_sampler_follows_the_law(relation):
    mechanism = InverseSensitivity.median(range(5), epsilon=2, neighbors=relation)
    data, draws = [0, 1, 1, 2, 4, 4], 5_000
    seen = Counter(mechanism.release(data) for _ in range(draws))

    def fit(variant):
        law = variant.pmf(data)
        assert sum(law.values()) == pytest.approx(1)
        return chisquare([seen[t] for t in law], [draws * p for p in law.values()]).pvalue

    assert fit(mechanism) > 1e-9
    assert fit(replace(mechanism, epsilon=3)) < 1e-9


def test_an_atom_at_the_median_is_found():
    generator = np.random.default_rng(3)
    data = np.r_[generator.integers(0, 1000, 900), np.full(100, 500)]
    mechanism = InverseSensitivity.median(range(1000), epsilon=1, neighbors="add-remove")
    assert sum(mechanism.release(data) == 500 for _ in range(50)) >= 45


def test_margin_is_in_changes_of_records():
    mechanism = InverseSensitivity.median(range(50), epsilon=1, neighbors="replace")
    margin = mechanism.margin(0.9)
    for data in ([0] * 40, list(range(50)), [0] * 20 + [49] * 21):
        law, far = mechanism.pmf(data), mechanism.distance(data)
        lost = sum(p for p, d in zip(law.values(), far, strict=True) if d > margin)
        assert lost <= 0.1


def test_answers_that_no_table_gives_are_never_released():
    mechanism = InverseSensitivity(
        ("a", "b", "c"), lambda _: [0, 3, -1], epsilon=1, neighbors="replace"
    )
    assert mechanism.pmf(None)["c"] == 0
    assert mechanism.pmf_bounds("c", None) == (0, 0)
    assert sum(mechanism.pmf(None).values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "distance", [lambda _: [0], lambda _: [-1, -1], lambda _: [0.5, 1], lambda _: [-2, 0]]
)
def test_unusable_distances_are_refused(distance):
    mechanism = InverseSensitivity("ab", distance, epsilon=1, neighbors="replace")
    with pytest.raises(InvalidData):
        mechanism.release(None)


@pytest.mark.parametrize(
    ("wrong", "call"),
    [
        ("outputs", lambda: InverseSensitivity("a", len, epsilon=1, neighbors="replace")),
        ("outputs", lambda: InverseSensitivity("aa", len, epsilon=1, neighbors="replace")),
        ("neighbors", lambda: InverseSensitivity("ab", len, epsilon=1, neighbors="near")),
        ("epsilon", lambda: InverseSensitivity("ab", len, neighbors="replace")),
        ("sides", lambda: InverseSensitivity.majority("abc", epsilon=1, neighbors="replace")),
        ("`q`", lambda: InverseSensitivity.quantile(2, "ab", epsilon=1, neighbors="replace")),
        ("below", lambda: InverseSensitivity.mean(1, 1, epsilon=1, neighbors="replace")),
    ],
)
def test_bad_parameters_are_refused_by_name(wrong, call):
    with pytest.raises(InvalidParameter, match=wrong):
        call()


def test_a_relation_must_be_named():
    with pytest.raises(MissingRelation):
        InverseSensitivity.median(range(3), epsilon=1, neighbors=None)
