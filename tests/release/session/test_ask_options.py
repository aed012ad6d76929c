"""A price without its name is refused with a message that shows how to write it."""

import pyarrow as pa
import pytest

import deniable as dp

QUESTION = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def visits():
    return dp.protect(pa.table({"ward": ["A", "B"]}), name="visits", epsilon=1)


@pytest.mark.parametrize("method", ["sql", "plan", "explain"])
def test_options_need_their_names(visits, method):
    with pytest.raises(TypeError, match=rf"Write {method}\(question, epsilon=0.5\)"):
        getattr(visits, method)(QUESTION, 0.5)
    assert str(visits.remaining) == "epsilon 1, delta 0"


def test_aggregates_and_prices_of_built_questions_need_names(visits):
    with pytest.raises(TypeError, match=r"Write agg\(n=dp.count\(\)\)"):
        visits.table("visits").agg(dp.count())
    with pytest.raises(TypeError, match=r"only with their names. Write release\(epsilon=0.5\)"):
        visits.table("visits").agg(n=dp.count()).release(0.5)
