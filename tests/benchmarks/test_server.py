from benchmarks import server


def test_each_row_is_measured():
    rows = list(server.rows())
    assert [row.unit for row in rows] == ["s", "ms", "ms"]
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
    assert rows[1].ours > rows[1].theirs  # a question to a server is also planned here
