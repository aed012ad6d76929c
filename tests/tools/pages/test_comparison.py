from tools.pages import comparison


def test_every_row_answers_for_every_tool():
    data = comparison.read()
    assert len(data["rows"]) >= 12
    for row in data["rows"]:
        assert set(row) == {"question", "deniable", *data["tools"]}


def test_a_row_that_no_longer_holds_is_seen():
    gained = comparison.check("diffprivlib", "import numpy; class Binary: ...; sqlite")
    assert any(line.startswith("A budget that survives a restart: no") for line in gained)
    lost = comparison.check("diffprivlib", "class Binary: ...")
    assert any(line.startswith("Tables in Python: arrays") for line in lost)


def test_the_page_is_dated_and_names_versions():
    (page,) = comparison.write_pages().values()
    assert "As of **20" in page
    assert "OpenDP 0." in page
    assert "python tools/pages/comparison.py opendp" in page
