"""The benchmark of CSV files, on a small one."""

import pytest

from benchmarks import files


def test_both_read_the_same_rows(tmp_path):
    files.make(tmp_path, 400)
    ours, theirs = files.private(tmp_path), files.plain(tmp_path)
    assert ours.keys() == theirs.keys() == files.MOST.keys()
    ours["open"]()
    assert theirs["open"]() == [(400,)]
    answer = ours["open and ask"]().to_arrow().to_pylist()
    plain = {ward: (count, mean) for ward, count, mean in theirs["open and ask"]()}
    assert {row["ward"] for row in answer} == plain.keys()
    for row in answer:
        assert row["n"] == pytest.approx(plain[row["ward"]][0], abs=60)


def test_slower_ones_are_not_reached():
    assert files.verdict("open", 3, 2, 1.5).reached
    assert not files.verdict("open", 3.1, 2, 1.5).reached
