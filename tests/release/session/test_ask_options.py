"""A price without its name is refused with a message that shows how to write it."""

import pyarrow as pa
import pytest

import deniable as dp

QUESTION = "SELECT COUNT(*) AS n FROM visits"


@pytest.mark.parametrize("method", ["sql", "plan", "explain"])
def test_options_need_their_names(method):
    visits = dp.protect(pa.table({"ward": ["A", "B"]}), name="visits", epsilon=1)
    with pytest.raises(
        TypeError, match=rf"Name the other .*: {method}\(question, epsilon=0.5\)"
    ):
        getattr(visits, method)(QUESTION, 0.5)
    assert str(visits.remaining) == "epsilon 1, delta 0"
