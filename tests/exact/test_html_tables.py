from deniable.exact.html_tables import html_table, html_text


def test_everything_is_escaped():
    page = html_table(["<ward>", "n"], [["<b>", "1"]], [False, True], 0, "a < b\nc")
    assert "<b>" not in page
    assert "<ward>" not in page
    assert "&lt;b&gt;" in page
    assert "a &lt; b<br>c" in page
    assert html_text("a < b\n\x1b") == "<pre>a &lt; b\n\\x1b</pre>"


def test_numbers_are_on_the_right_and_rows_left_out_are_counted():
    page = html_table(["ward", "n"], [["A", "1"]], [False, True], 2000)
    assert '<td>A</td><td style="text-align: right">1</td>' in page
    assert "2,000 more rows" in page
    assert "<p>" not in page
