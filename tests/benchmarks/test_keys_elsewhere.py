"""The benchmark of declared keys on other engines, on few of them."""

import pytest

from benchmarks import keys_elsewhere

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


@pytest.mark.parametrize("engine", ["DuckDB through Ibis", "SQLite through Ibis"])
def test_a_question_is_measured_beside_the_plain_one(engine, tmp_path):
    times = keys_elsewhere.measure(engine, tmp_path, 200)
    assert set(times) == {"ask", "plain"}
    assert all(value > 0 for value in times.values())
