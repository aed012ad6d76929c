"""`python -m benchmarks` runs the parts it is asked for."""

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.stopwatch import Row


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """Two quick parts instead of the real ones; what they did is listed."""
    done = []

    def part(name):
        def rows():
            done.append(name)
            yield Row(name, "ms", 1.0, 2.0, "a peer", 0.5, "≤ 1", True)

        return rows

    monkeypatch.setattr(benchmarks, "BENCHMARKS", {name: part(name) for name in ("a", "b")})
    monkeypatch.setattr(benchmarks, "RESULTS", tmp_path / "results.json")
    return done


def test_all_parts_run_and_are_recorded(ran):
    benchmarks.main([])
    assert ran == ["a", "b"]
    assert benchmarks.RESULTS.exists()


def test_one_part_runs_alone_and_leaves_the_record(ran, capsys):
    benchmarks.main(["b"])
    assert ran == ["b"]
    assert not benchmarks.RESULTS.exists()
    assert "a peer" in capsys.readouterr().out


def test_an_unknown_part_is_named(ran):
    with pytest.raises(SystemExit, match="no part 'c', only a, b"):
        benchmarks.main(["c"])
    assert ran == []


def test_a_file_gets_whole_tables(ran, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(benchmarks, "BENCHMARKS", {"a": lambda: [wide]})
    wide = Row("w" * 60, "ms", 1.25, 2.5, "p" * 30, 0.5, "≤ 1", True)
    benchmarks.main(["a"])
    told = capsys.readouterr().out
    assert "…" not in told
    assert all(word in told for word in ("w" * 60, "p" * 30, "0.5", "≤ 1", "yes"))
