"""Pages load nothing and escape everything."""

from deniable.audit.attack.finding_pages import write_page
from deniable.audit.attack.finding_sections import Section

WORDS = {"title": "A <b>", "heading": "keep", "note": "nothing", "shared": False}


def test_everything_is_escaped():
    section = Section("<i>", ("<u>",), ("<th>",), (("<td onclick=x>",),), (("<bar>", 0.5),))
    page = write_page([section], **WORDS)
    for tag in ("<i>", "<u>", "<td onclick", "<bar>", "<b>"):
        assert tag not in page


def test_nothing_is_loaded():
    page = write_page([Section("title", ("text",))], **WORDS)
    assert not any(word in page for word in ("http", "src=", "<script", "url(", "@import"))


def test_bars_have_the_width_of_their_shares():
    page = write_page([Section(shares=(("half", 0.5), ("too much", 7.0)))], **WORDS)
    assert 'class="share" width="50.0"' in page
    assert 'class="share" width="100.0"' in page
    assert "50.0 %" in page
