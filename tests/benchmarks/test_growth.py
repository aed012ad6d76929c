"""The growth benchmark: its ledgers are as long as they say, and sound."""

from benchmarks import growth


def test_small_ledgers_are_built_measured_and_verified(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "ENTRIES", (10, 30))
    monkeypatch.setattr(growth, "ANALYSTS", (2, 5))
    monkeypatch.setattr(growth, "CHUNK", 8)
    files = growth.build(tmp_path)
    for (entries, analysts), file in files.items():
        ledger = growth.DurableLedger(file, growth.POLICY)
        assert entries - 2 <= ledger.verify().entries <= entries
        charged = [
            usage for usage in ledger.filter_usages() if usage.account.startswith("analyst")
        ]
        assert len(charged) == min(analysts, ledger.head.number // 2)
        ledger.close()
    figures = growth.measure(files[30, 5])
    assert figures["entries"] > 27
    assert min(figures.values()) > 0
