import pytest

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.journal import (
    EMPTY,
    JournalAnchor,
    MemoryJournal,
    entry_hash,
    recall_key,
)
from deniable.ledger.stores.signing_keys import SigningKey


def appended(journal, *bodies, sums=None):
    return journal.append(lambda view: (bodies, sums))


def test_entries_are_numbered_and_chained():
    journal = MemoryJournal(SigningKey.new())
    rows = appended(journal, {"kind": "reserved"}, {"kind": "amended"})
    rows += appended(journal, {"kind": "settled", "of": 0, "place": 0}, sums={"n": 2})
    rows += appended(journal, {"kind": "amended"})
    before = ""
    for number, row in enumerate(rows):
        before = entry_hash(before, number, row.body)
        assert (row.number, row.hash) == (number, before)
    entries, anchor = journal.read_all()
    assert list(entries) == rows
    assert (anchor.number, anchor.hash, anchor.state) == (3, before, '{"format":3}')
    with journal.view() as view:
        checkpoint = view.checkpoint()
        assert (checkpoint.number, checkpoint.hash) == (2, rows[2].hash)
        assert checkpoint.state == '{"n":2}'
        journal.check_signature(checkpoint)
        assert list(view.rows_after(1)) == rows[2:]
        assert view.ending("0.0") == rows[2]
        assert view.row(4) is None
        assert view.row(-1) is None
        assert view.answers(recall_key("a", "b")) == ()


def test_deciding_nothing_appends_nothing():
    journal = MemoryJournal(SigningKey.new())
    assert appended(journal) == []
    assert journal.read_all() == ((), EMPTY)


def test_a_decision_that_raises_appends_nothing():
    journal = MemoryJournal(SigningKey.new())
    appended(journal, {"kind": "reserved"})
    with pytest.raises(ZeroDivisionError):
        journal.append(lambda view: 1 / 0)
    assert len(journal.read_all()[0]) == 1


def test_only_signed_anchors_are_believed():
    journal = MemoryJournal(SigningKey.new())
    appended(journal, {"kind": "reserved"})
    anchor = journal.read_all()[1]
    assert journal.check_signed(anchor) is anchor
    assert journal.check_signed(EMPTY) is EMPTY
    other = MemoryJournal(SigningKey.new())
    with pytest.raises(LedgerBroken, match="not signed by its key"):
        other.check_signed(anchor)


def test_a_later_format_is_refused_in_words_before_its_signature_is_checked():
    journal = MemoryJournal(SigningKey.new())
    with pytest.raises(LedgerUnavailable, match=r"has format 4.*knows formats up to 3"):
        journal.check_signed(JournalAnchor(0, "", '{"format":4}', ""))
    for strange in ("", "[]", '{"format":"x"}', "3"):
        with pytest.raises(LedgerBroken, match="cannot be read"):
            journal.check_signed(JournalAnchor(0, "", strange, ""))
