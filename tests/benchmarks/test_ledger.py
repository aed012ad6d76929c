"""The ledger benchmark: every reservation that it times is really made."""

import pytest

from benchmarks import ledger
from deniable.ledger import DurableLedger


def test_each_act_is_a_commit_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "COMMITS", 1)
    kept = []

    class Noting(DurableLedger):
        def close(self):
            kept.append([(entry.number, entry.place) for entry in self.entries])
            super().close()

    monkeypatch.setattr(ledger, "DurableLedger", Noting)
    bare = ledger.sqlite(tmp_path)
    rows = list(ledger.contest("SQLite", tmp_path / "l.sqlite", tmp_path, bare))
    (entries,) = kept
    assert len({number for number, _ in entries}) == 2 * 10  # nine turns each, and one before
    assert len(entries) == 10 + 10 * ledger.BATCH
    for row in rows:
        assert row.reached == (row.ours <= 3 * row.theirs)
        assert row.ratio == pytest.approx(row.ours / row.theirs)
