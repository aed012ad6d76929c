"""Foreign text is read within limits and shown without what a terminal would obey."""

import json
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.exact import foreign_text
from deniable.exact.foreign_text import (
    MOST_DIGITS,
    MOST_LEVELS,
    escape_html,
    nests_deeper,
    printable,
    quoted,
    read_json,
    read_rational,
)

DOUBTFUL = {
    "nothing": "",
    "a key twice": '{"a": 1, "b": {"a": 1, "a": 1}}',
    "not a number": "[NaN]",
    "infinity": "[-Infinity]",
    "infinite": "1e999",
    "exponent": "1e10000000",
    "digits": "9" * (MOST_DIGITS + 1),
    "decimals": f"0.{'3' * MOST_DIGITS}",
    "deep": "[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1),
    "very deep": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "half a pair": '"\\ud800"',
    "half a pair in a key": '{"\\udfff": 1}',
    "not Unicode": "\ud800",
    "not UTF-8": b'"\xff"',
    "a mark of order": "\ufeff[]",
    "a control character": '"\x07"',
    "two values": "[] []",
    "cut off": '{"a": [1',
    "a comma too many": "[1,]",
    "a leading zero": "01",
}


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_is_doubtful_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_json(text)


@pytest.mark.parametrize(
    ("limit", "most", "good", "bad"),
    [("MOST_BYTES", 4, "[11]", "[111]"), ("MOST_VALUES", 3, "[[[]]]", "[[[[]]]]")],
    ids=["MOST_BYTES", "MOST_VALUES"],
)
def test_limits_are_exact(monkeypatch, limit, most, good, bad):
    monkeypatch.setattr(foreign_text, limit, most)
    assert read_json(good) == json.loads(good)
    with pytest.raises(ValueError, match="than"):
        read_json(bad)


def test_brackets_in_strings_are_no_levels():
    text = json.dumps(["[{" * 500, {'"]\\': "}" * 500}])
    assert not nests_deeper(text.encode(), 2)
    assert nests_deeper(text.encode(), 1)
    assert read_json(text) == json.loads(text)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


@given(JSON, st.booleans())
def test_what_python_writes_is_read_as_python_reads_it(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert repr(read_json(text)) == repr(read_json(text.encode())) == repr(json.loads(text))


@pytest.mark.parametrize(
    "bad",
    [
        *("", "1.5", "1e5", "1/", "/2", "1/-2", "+1", " 1", "1 ", "1/0", "٣", "1_0", "--1"),
        pytest.param("9" * (MOST_DIGITS + 1), id="long"),
        pytest.param(f"1/{'9' * (MOST_DIGITS + 1)}", id="long below"),
        *(1, 0.5, None, ["1"]),
    ],
)
def test_rationals_have_one_form(bad):
    with pytest.raises(ValueError, match="number"):
        read_rational(bad)


@given(st.fractions())
def test_rationals_come_back(number):
    assert read_rational(str(number)) == number
    assert read_rational(f"-{'9' * MOST_DIGITS}") == -Fraction("9" * MOST_DIGITS)


@given(st.text())
def test_nothing_hidden_is_shown(text):
    for shown in (printable(text), quoted(text), escape_html(text)):
        assert shown.isprintable()
    assert printable(text) == text or not text.isprintable()
    assert not {"<", ">", '"'} & set(escape_html(text))
    whole = re.fullmatch(r'\w[\w.-]*|"(?:[^"\\]|\\.)*"', quoted(text))
    assert whole is not None  # no quotation mark ends it early
