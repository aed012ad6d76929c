"""The contract of mechanisms that choose by scores: proofs over all small tables, and laws."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from deniable.errors import InvalidData, InvalidParameter
from deniable.exact.rationals import rational
from tests.mechanisms.enumeration import check
from tests.mechanisms.tables import OnTables, counts, neighbors

THRESHOLD = 1e-9
RECORDS, VALUES = 4, 4
shared = settings(suppress_health_check=[HealthCheck.differing_executors])
short_scores = st.lists(st.integers(-8, 8), min_size=1, max_size=6)


def ranks(table: tuple[int, ...]) -> list[int]:
    """Minus how far the rank of each value lies from the middle, in halves: it moves by one
    if a record comes or goes, by two if a record is replaced."""
    n = len(table)
    return [
        -max(0, n - 2 * sum(x <= t for x in table), 2 * sum(x < t for x in table) - n)
        for t in range(VALUES)
    ]


class ChoiceContract:
    """Subclasses give the mechanism; its monotone twin and a stronger one are derived."""

    mechanism: ClassVar[Any]  # epsilon given, sensitivity 1, not monotone
    draws: ClassVar[int] = 5_000

    def variant(self, **changes: Any) -> Any:
        return replace(self.mechanism, **changes)

    # Proofs: all tables of at most four records over four values, all neighbours.

    @pytest.mark.parametrize("relation", ["add-remove", "replace"])
    def test_counts_keep_the_loss(self, relation):
        pairs = neighbors(relation, RECORDS, VALUES)
        verdict = check(OnTables(self.mechanism, counts), pairs, range(VALUES))
        assert verdict.private, verdict.event
        assert verdict.missing < 1e-12

    def test_counts_keep_the_loss_at_twice_the_strength_when_records_come_or_go(self):
        pairs = neighbors("add-remove", RECORDS, VALUES)
        strong = OnTables(self.variant(monotone=True), counts)
        verdict = check(strong, pairs, range(VALUES))
        assert verdict.private, verdict.event

    def test_twice_the_strength_is_caught_when_records_are_replaced(self):
        pairs = neighbors("replace", RECORDS, VALUES)
        broken = OnTables(self.variant(monotone=True), counts)
        assert check(broken, pairs, range(VALUES)).violated

    needs_a_grid: ClassVar[bool] = False

    @pytest.mark.parametrize(("relation", "halves"), [("add-remove", 1), ("replace", 2)])
    def test_medians_keep_the_loss(self, relation, halves):
        pairs = neighbors(relation, RECORDS, VALUES)
        median = OnTables(self.variant(sensitivity=halves), ranks)
        verdict = check(median, pairs, range(VALUES))
        assert verdict.private, verdict.event

    def test_half_the_sensitivity_of_a_median_is_caught_under_replace(self):
        pairs = neighbors("replace", RECORDS, VALUES)
        median = OnTables(self.variant(sensitivity=1), ranks)
        assert check(median, pairs, range(VALUES)).violated

    @pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
    def test_the_order_of_the_candidates_does_not_matter(self, order):
        scores = [3, 0, 1, 1]
        shuffled = [scores[i] for i in order]
        for place, i in enumerate(order):
            assert self.mechanism.pmf_bounds(place, shuffled, 64) == pytest.approx(
                self.mechanism.pmf_bounds(i, scores, 64), abs=1000
            )

    # The law, its enclosure and its sampler agree.

    @shared
    @given(short_scores)
    def test_probabilities_are_enclosed_and_add_up(self, scores):
        law = self.mechanism.pmf(scores)
        assert law.sum() == pytest.approx(1, abs=1e-12)
        bounds = [self.mechanism.pmf_bounds(i, scores, 80) for i in range(len(scores))]
        for p, (lo, hi) in zip(law, bounds, strict=True):
            assert 0 <= lo <= hi <= 2**80
            assert hi - lo < 2**30
            assert p == pytest.approx(lo / 2**80, rel=1e-10, abs=1e-14)
        assert sum(lo for lo, _ in bounds) <= 2**80 <= sum(hi for _, hi in bounds)

    @shared
    @given(short_scores)
    def test_better_candidates_are_likelier_and_equal_ones_equally_so(self, scores):
        law = self.mechanism.pmf(scores)
        order = np.argsort(scores)
        assert (np.diff(law[order]) >= -1e-15).all()
        best = [p for p, s in zip(law, scores, strict=True) if s == max(scores)]
        assert max(best) == pytest.approx(min(best), rel=1e-12)

    def test_the_sampler_follows_the_law_and_nothing_near_it(self):
        scores = [4, 0, 3, 3, -2]
        seen = Counter(self.mechanism.release(scores) for _ in range(self.draws))
        observed = [seen[i] for i in range(5)]
        assert sum(observed) == self.draws

        def fit(law):
            return chisquare(observed, law * self.draws / law.sum()).pvalue

        assert fit(self.mechanism.pmf(scores)) > THRESHOLD
        near = self.variant(sensitivity=Fraction(4, 3), **self.fine())
        assert fit(near.pmf(scores)) < THRESHOLD

    def fine(self) -> dict[str, Any]:
        return {"step": Fraction(1, 3)} if self.needs_a_grid else {}

    # Margins.

    @pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
    @pytest.mark.parametrize("candidates", [2, 3, 30])
    def test_margin_covers_the_worst_scores_and_is_least_or_nearly(
        self, confidence, candidates
    ):
        margin = self.mechanism.margin(confidence, candidates=candidates)

        def lost_more_than(m: int) -> float:
            worst = [m + 1] + [0] * (candidates - 1)
            return 1 - self.mechanism.pmf(worst)[0]

        allowed = 1 - confidence
        assert lost_more_than(margin) <= allowed
        slack = 2 if self.needs_a_grid else 0  # a tie is counted as lost there
        assert margin <= slack or lost_more_than(margin - 1 - slack) > allowed

    @shared
    @given(st.lists(st.integers(0, 40), min_size=2, max_size=6))
    def test_no_scores_lose_more_than_the_margin_says(self, scores):
        margin = self.mechanism.margin(0.9, candidates=len(scores))
        law = self.mechanism.pmf(scores)
        lost = [max(scores) - s for s in scores]
        assert sum(p for p, d in zip(law, lost, strict=True) if d > margin) <= 0.1 + 1e-12

    def test_margin_of_floats_covers_the_rounding(self):
        exact = self.mechanism.margin(0.9, candidates=10)
        real = self.mechanism.margin(0.9, candidates=10, real=True)
        assert exact < real < exact + 2
        assert self.mechanism.margin(0.9, candidates=1) == 0

    # Scores of all kinds.

    def test_a_mapping_gives_its_keys_back(self):
        far = {"near": 10_000, "far": 0}
        assert self.mechanism.release(far) == "near"
        assert list(self.mechanism.pmf({"a": 1, "b": 1}).values()) == pytest.approx([0.5, 0.5])
        assert self.mechanism.pmf_bounds("c", far, 64) == (0, 0)
        assert self.mechanism.pmf_bounds(5, [1, 2], 64) == (0, 0)

    @pytest.mark.parametrize(
        "scores",
        [
            [0, 10_000],
            (0, 10_000),
            np.array([0, 10_000]),
            np.array([0, 10_000], dtype=np.uint16),
            [0.0, 10_000.0],
            np.array([0, 1e4], dtype=np.float32),
            [Fraction(1, 3), Fraction(30_000, 3)],
            [0, 2**80],
            [-(2**63), 2**63 - 1],
            np.array([-(2**63), 2**63 - 1]),
        ],
        ids=str,
    )
    def test_scores_come_in_many_kinds(self, scores):
        assert self.mechanism.release(scores) == 1

    def test_floats_are_rounded_and_the_sensitivity_widened(self):
        """Two floats that should be equal may differ by a last digit: it changes nothing."""
        chances = self.mechanism.pmf([0.1 + 0.2, 1.0])
        assert chances.tolist() == self.mechanism.pmf([0.3, 1.0]).tolist()
        whole = self.mechanism.pmf([0, 1])
        assert chances[0] - 0.2 > 0
        widened = self.mechanism.pmf([0.0, 1.0])
        assert widened[1] < whole[1]
        assert widened[1] == pytest.approx(whole[1], rel=4e-3)

    @pytest.mark.parametrize(
        "bad",
        [
            [],
            {},
            "7",
            None,
            7,
            [[1, 2], [3, 4]],
            [1, "2"],
            [1, None],
            [True, False],
            [1.0, float("nan")],
            np.array([1.0, np.inf]),
            {"a": 1, "b": None},
        ],
        ids=str,
    )
    def test_bad_scores_are_refused_without_being_quoted(self, bad):
        with pytest.raises(InvalidData) as caught:
            self.mechanism.release(bad)
        assert "1" not in str(caught.value)

    @pytest.mark.parametrize(
        "change",
        [
            {"sensitivity": 0},
            {"sensitivity": -1},
            {"sensitivity": "1"},
            {"monotone": 1},
            {"step": 0},
            {"epsilon": 0},
            {"epsilon": None},
            {"odds": 2},
        ],
        ids=str,
    )
    def test_bad_parameters_are_refused_by_name(self, change):
        with pytest.raises(InvalidParameter, match=next(iter(change))):
            self.variant(**change)

    @pytest.mark.parametrize("bad", [0, 1, -1, 2, "x", float("nan")])
    def test_a_margin_needs_a_confidence(self, bad):
        with pytest.raises(InvalidParameter, match="confidence"):
            self.mechanism.margin(bad, candidates=2)

    @pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
    def test_a_margin_needs_candidates(self, bad):
        with pytest.raises(InvalidParameter, match="candidates"):
            self.mechanism.margin(0.9, candidates=bad)

    def test_odds_stand_in_for_epsilon(self):
        coins = self.variant(epsilon=None, odds=3)
        assert coins.loss.epsilon() == pytest.approx(1.0986122886681098, rel=1e-15)
        pairs = neighbors("replace", 3, 3)
        assert check(OnTables(coins, counts), pairs, range(VALUES)).private

    def test_it_is_a_value(self):
        assert replace(self.mechanism) == self.mechanism
        assert hash(replace(self.mechanism)) == hash(self.mechanism)
        assert self.variant(epsilon=9) != self.mechanism
        assert rational(self.mechanism.loss.epsilon()) == self.mechanism.epsilon
