from fractions import Fraction

from deniable.ledger import MemoryLedger
from deniable.ledger.entries import plan_to_json, read_entries
from tests.ledger.contract import plan


def test_every_plan_of_a_batch_is_an_entry():
    ledger = MemoryLedger(10)
    entries = ledger.reserve_all(
        [plan(1), plan(2, table="more")], analyst="ann", plan_hashes=["a", "b"], version="march"
    )
    row = list(ledger._journal.read_all()[0])[1]
    assert tuple(read_entries(row)) == entries
    assert [(entry.number, entry.place, entry.table, entry.epsilon) for entry in entries] == [
        (1, 0, "data", 1),
        (1, 1, "more", 2),
    ]
    assert {(entry.analyst, entry.version, entry.state) for entry in entries} == {
        ("ann", "march", "reserved")
    }
    ledger.settle(entries[1], "{}")
    assert [entry.state for entry in ledger.entries] == ["reserved", "settled"]


def test_what_is_told_of_a_plan_is_exact():
    said = plan_to_json(plan(Fraction(1, 3), 1e-7), "hash")
    assert said == {"delta": "1/10000000", "epsilon": "1/3", "plan": "hash", "tables": ["data"]}
