"""PDF files where Chromium is; none, and no error, where it is not."""

import pytest

from deniable.app.web import pdf_printing


@pytest.mark.needs("chromium")
def test_a_page_becomes_a_pdf_file(tmp_path):
    page, target = tmp_path / "a.html", tmp_path / "a.pdf"
    page.write_text("<!DOCTYPE html><title>t</title><p>text")
    assert pdf_printing.print_pdf(page, target)
    assert target.read_bytes().startswith(b"%PDF-")


def test_without_a_browser_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pdf_printing.find_browser() is None
    assert not pdf_printing.print_pdf(tmp_path / "a.html", tmp_path / "a.pdf")
