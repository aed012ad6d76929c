"""Cross-tables are charged once, at the price that was asked, and given again for nothing."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import BudgetExhausted
from deniable.release.certificate.verification import verify
from tests.synth.crosstabs.test_crosstabs import PAIRS, session


def test_the_price_is_what_was_asked():
    with session() as opened:
        first = opened.crosstabs(PAIRS, epsilon=0.5)
        assert 1.5 <= opened.remaining.epsilon < 1.5001
        assert not first.repeated
        again = opened.crosstabs(PAIRS, epsilon=0.5)
        assert again.repeated
        assert (again["a", "b"].values == first["a", "b"].values).all()
        assert "(charged before)" in str(again)
        assert opened.remaining.epsilon >= 1.5
        fresh = opened.crosstabs(PAIRS, epsilon=0.5, fresh=True)
        assert (fresh["a", "b"].values != first["a", "b"].values).any()
        assert opened.remaining.epsilon < 1.01


def test_what_does_not_fit_the_budget_reads_nothing():
    with session() as opened:
        with pytest.raises(BudgetExhausted):
            opened.crosstabs(PAIRS, epsilon=3)
        assert opened.remaining.epsilon == 2


def test_every_measured_table_is_certified():
    with session() as opened:
        tables = opened.crosstabs(PAIRS, epsilon=1)
        for release in tables.releases:
            assert release.certificate is not None
            assert verify(release.to_dict(), key=opened.ledger.public_key).signer_known


def test_parts_of_a_table_have_their_own():
    with session() as opened:
        half = opened.partition("a", [0, 1])[0]
        tables = half.crosstabs([["b", "c"]], epsilon=1)
        assert abs(tables.total - 2000) < 300


def test_empty_tables_and_single_rows_have_cross_tables():
    for rows in ([], [0]):
        frame = pa.table({"a": pa.array(rows, pa.int64())})
        with dp.protect(frame, keys={"a": [0]}, epsilon=1, delta=1e-6) as opened:
            assert opened.crosstabs([["a"]], epsilon=1)["a"].values.shape == (2,)


def test_a_rehearsal_says_so():
    with session() as opened, dp.rehearse(opened.policy) as made_up:
        assert str(made_up.crosstabs(PAIRS, epsilon=1)).count("REHEARSAL") == 1
