"""What SQL over released rows adds is measured for every case, on few groups."""

from benchmarks import outer


def test_every_case_is_measured():
    rows = list(outer.rows(groups=3))
    assert len(rows) == len(outer.CASES)
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)


def test_no_statement_is_asked_twice():
    texts = [text for _, text in outer.CASES.values()]
    assert all(text.count("{}") == 2 for text in texts)
