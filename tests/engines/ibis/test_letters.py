"""LIKE by hand is LIKE by regular expressions, in time that lengths bound."""

import re

from hypothesis import given
from hypothesis import strategies as st

from deniable.engines.ibis.letters import _likes, pattern


@given(st.text("ab%\n", max_size=12), st.text("ab%_\n", max_size=8))
def test_likes_are_what_their_pattern_matches(text, like):
    assert _likes(text, like) == bool(re.match(pattern(like)[:-1] + r"\Z", text))


def test_no_pattern_takes_forever():
    assert not _likes("a" * 2000, "%a" * 50 + "b")
    assert _likes("a" * 2000 + "b", "%a" * 50 + "b")
