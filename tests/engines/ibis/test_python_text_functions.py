"""LIKE by hand is LIKE by regular expressions, in time that lengths bound."""

import re

from hypothesis import given
from hypothesis import strategies as st

from deniable.engines.ibis.python_text_functions import _matches_like, like_to_regex


@given(st.text("ab%\n", max_size=12), st.text("ab%_\n", max_size=8))
def test_likes_are_what_their_pattern_matches(text, like):
    assert _matches_like(text, like) == bool(re.match(like_to_regex(like)[:-1] + r"\Z", text))


def test_no_pattern_takes_forever():
    assert not _matches_like("a" * 2000, "%a" * 50 + "b")
    assert _matches_like("a" * 2000 + "b", "%a" * 50 + "b")
