"""The benchmark of many declared keys, on few of them."""

from benchmarks import keys


def test_all_is_measured_and_judged(tmp_path):
    figures = keys.measure(tmp_path, 200)
    assert set(figures) == {"memory", "open", "ask", "plain"}
    assert all(value > 0 for value in figures.values())
    opened, question, memory = keys.rows_of(
        {"open": 3, "ask": 3.1, "plain": 1, "memory": 2**30}
    )
    assert (opened.reached, question.reached, memory.reached) == (True, False, True)
