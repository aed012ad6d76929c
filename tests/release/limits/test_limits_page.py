from tests.release.limits.test_measured_limits import limits


def test_the_page_has_a_histogram_for_each_limit_and_loads_nothing():
    page = limits().page()
    assert page.count("<svg") == 2
    assert page.count("<rect") == 6
    assert "max_rows_per_unit_per_group = 3" in page
    for loads in ("http", "src=", "<script", "url("):
        assert loads not in page


def test_names_are_escaped():
    assert "<b>" not in limits(table="<b>", unit="<b>", by=("<b>",))._repr_html_()


def test_a_notebook_gets_the_body_and_a_file_the_page(tmp_path):
    measured = limits()
    assert measured._repr_html_() in measured.page()
    measured.save(str(tmp_path / "limits.html"))
    assert (tmp_path / "limits.html").read_text(encoding="utf-8") == measured.page()
