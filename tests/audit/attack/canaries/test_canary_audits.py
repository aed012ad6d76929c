"""Audits of what sessions release: questions, copies, models."""

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.audit.attack import audit_copy, audit_model, audit_questions, one_run
from deniable.audit.attack.canaries.canary_audits import make_canaries
from deniable.audit.attack.rows.owned_sources import read_owned

TOWNS = [f"town {i}" for i in range(300)]
RNG = np.random.default_rng(5)
PEOPLE = pa.table({"town": RNG.choice(TOWNS, 1000), "old": RNG.integers(0, 2, 1000) == 1})
SURE = {"confidence": 1 - 1e-9}  # a right mechanism fails these tests once in 1e9 runs
BY_TOWN = "SELECT town, COUNT(*) AS n FROM people GROUP BY town"


def audit_towns(question=BY_TOWN, epsilon=1, **more):
    declared = {"keys": {"town": TOWNS}, "table": "people"}
    return audit_questions(
        PEOPLE, [question], column="town", epsilon=epsilon, **declared, **more
    )


def test_answers_by_town_are_not_accused_and_the_audit_has_power():
    finding = audit_towns(options=SURE)
    assert not finding.violated
    assert (finding.claim, finding.canaries) == (1, 300)
    assert finding.power > 2
    assert audit_towns(epsilon=3).at_least > 1


def test_a_claim_that_is_too_small_is_refuted():
    assert audit_towns(epsilon=4, options={"claim": dp.PureLoss(1)}).violated


def test_people_with_several_rows_get_canaries_of_their_own():
    visits = PEOPLE.append_column("person", pa.array(np.arange(1000)))
    finding = audit_questions(
        visits,
        [BY_TOWN],
        column="town",
        epsilon=3,
        keys={"town": TOWNS},
        table="people",
        unit="person",
        max_groups_per_unit=1,
        max_rows_per_unit_per_group=1,
        options=SURE,
    )
    assert finding.at_least > 0.5
    assert not finding.violated


def test_canaries_that_no_question_counts_are_refused():
    with pytest.raises(dp.InvalidParameter, match="test nothing"):
        audit_towns(
            "SELECT town, COUNT(*) AS n FROM people WHERE old AND NOT old GROUP BY town"
        )


def test_canaries_need_declared_keys():
    with pytest.raises(dp.InvalidParameter, match="declared keys"):
        audit_copy(PEOPLE, column="town", epsilon=1)


def test_canaries_do_not_audit_a_claim_under_replace():
    with pytest.raises(dp.InvalidParameter, match="add-remove"):
        audit_towns(neighbors="replace")


def test_a_canary_for_each_key():
    canaries = make_canaries(read_owned(PEOPLE, keys={"town": TOWNS}), "town")
    assert canaries["town"].to_pylist() == TOWNS


def test_a_copy_is_not_accused_and_a_copy_over_observed_cells_is():
    """The second copy takes the towns that occur in the rows for the towns that there are."""
    finding = audit_copy(PEOPLE, column="town", epsilon=1, keys={"town": TOWNS}, options=SURE)
    assert not finding.violated

    def release(included):
        towns = [f"new {i}" for i in included]
        more = pa.table({"town": towns, "old": [True] * len(towns)})
        rows = pa.concat_tables([PEOPLE, more])
        observed = sorted(set(rows["town"].to_pylist()))
        with dp.protect(rows, keys={"town": observed}, epsilon=1, delta=1e-6) as session:
            return session.copy(epsilon=1, delta=1e-6, method="mst")

    def score(copy):
        labels = next(table.labels[0] for table in copy.measured if table.columns == ("town",))
        return [float(f"new {i}" in labels) for i in range(200)]

    claim = dp.ApproximateLoss(1, 1e-6)
    caught = one_run(release, range(200), score=score, claim=claim, guesses=50, sides="in")
    assert caught.violated
    assert caught.at_least == caught.power > 2.5


def test_a_model_is_not_accused_and_one_that_remembers_is():
    X = RNG.uniform(0, 1, (20_000, 2))  # so that two canaries are hardly ever the same row
    y = (X[:, 0] > 0.5).astype(int)
    claim = dp.PureLoss(1)

    def private():
        return dp.learn.NaiveBayes(epsilon=1, bounds=(0, 1), classes=[0, 1])

    assert not audit_model(private, X, y, claim=claim, canaries=60, options=SURE).violated

    class Nearest:
        classes_ = np.array([0, 1])

        def fit(self, rows, labels):
            self.rows, self.labels = rows, labels
            return self

        def predict_proba(self, rows):
            near = np.abs(rows[:, None] - self.rows).sum(axis=2) < 1e-9
            share = (near * self.labels).sum(axis=1) / np.maximum(near.sum(axis=1), 1)
            return np.stack([1 - share, share], axis=1)

    # 20 of 100 canaries are surely in, and 20 out: all these guesses are right.
    finding = audit_model(Nearest, X, y, claim=claim, canaries=100, options={"guesses": 40})
    assert finding.violated
