import deniable as dp
from tools.pages.docstrings import write_docstring, write_signature


def test_markup_in_a_docstring_is_text():
    assert write_docstring("P(x < y) is 2**k.") == r"P(x &lt; y) is 2\*\*k."
    assert write_docstring("`a < b`") == "`a < b`"


def test_a_long_signature_has_a_line_for_each_argument():
    lines = write_signature("dp.protect", dp.protect).splitlines()
    assert lines[0] == "dp.protect("
    assert "    *," in lines
    assert lines[-1].startswith(")")
