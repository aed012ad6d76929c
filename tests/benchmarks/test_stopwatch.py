"""The stopwatch is fair: turns alternate, and the median speaks."""

from benchmarks.stopwatch import REPEATS, medians, speed


def test_contestants_take_turns():
    turns = []
    contestants = {name: lambda name=name: turns.append(name) or 1.0 for name in ("a", "b")}
    medians(contestants)
    assert turns == ["a", "b"] * REPEATS


def test_one_bad_moment_does_not_count():
    times = iter([1.0] * (REPEATS - 1) + [1000.0])
    assert medians({"a": lambda: next(times)}) == {"a": 1.0}


def test_tables_are_built_before_the_clock_starts():
    calls = []
    run = speed(calls.append, 50)
    assert len(calls) == 1
    assert run() > 0
    assert calls[1:] == [50]
