"""A small project with a test that notices one change and not another."""

import json
import subprocess
import sys

import pytest

from tools import mutants, warm_tests

TABLE = """
[[sums]]
what = "one is added twice"
function = "adding.py::add"
change = "a + b => a + b + b"
test = "tests/test_adding.py::test_sums"

[[sums]]
what = "the order is another"
function = "adding.py::add"
change = "$left + $right => $right + $left"
test = "tests/test_adding.py::test_sums"

[[names]]
what = "what is not there any more"
function = "adding.py::add"
change = "a * b => a"
test = "tests/test_adding.py::test_sums"

[[names]]
what = "nothing can be imported"
function = "adding.py"
change = "ZERO = 0 => ZERO = O"
test = "tests/test_adding.py::test_sums"

[[tests]]
what = "the test fails anyway"
function = "adding.py::add"
change = "a + b => a"
test = "tests/test_failing.py"

[[tests]]
what = "the test is skipped"
function = "adding.py::add"
change = "a + b => a"
test = "tests/test_adding.py::test_skipped"

[[tests]]
what = "there is no such test"
function = "adding.py::add"
change = "a + b => a"
test = "tests/test_adding.py::test_nothing"

[[tests]]
what = "the process dies"
function = "adding.py::add"
change = "return a + b => import os; os._exit(0)"
test = "tests/test_adding.py::test_sums"
"""
TESTS = """
import pytest
from deniable.adding import add


@pytest.mark.parametrize("b", [3, 4])
def test_sums(b):
    assert add(2, b) == 2 + b


def test_skipped():
    pytest.skip("a program is missing")
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(warm_tests, "PACKAGES", ["pytest"])
    for name, text in {
        "tools/mutants.toml": TABLE,
        "src/deniable/__init__.py": "",
        "src/deniable/adding.py": "ZERO = 0\n\n\ndef add(a, b):\n    return a + b\n",
        "tests/test_adding.py": TESTS,
        "tests/test_failing.py": "def test_sums():\n    assert False\n",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


OUTCOMES = {
    "sums: one is added twice": "caught",
    "sums: the order is another": "SURVIVED",
    "names: what is not there any more": "GONE",
    "names: nothing can be imported": "NOT RUN",
    "tests: the test fails anyway": "BROKEN",
    "tests: the test is skipped": "NOT RUN",
    "tests: there is no such test": "NOT RUN",
    "tests: the process dies": "NO END",
}


def test_what_a_test_notices_is_caught_and_the_rest_is_named(project, capsys):
    before = (project / "src/deniable/adding.py").read_text()
    assert mutants.main(["--workers", "1"], project) == 7
    told = capsys.readouterr().out
    assert "1 of 8 mutants were caught, in " in told
    assert "SURVIVED (no test failed): 1\n  sums: the order is another (adding.py::add" in told
    assert (project / "src/deniable/adding.py").read_text() == before
    entries = map(json.loads, (project / "build/mutants.jsonl").read_text().splitlines())
    assert {entry["mutant"]: entry["outcome"] for entry in entries} == OUTCOMES
    assert mutants.main(["--resume", "--workers", "1", "sums"], project) == 1
    told = capsys.readouterr().out
    assert "1 of 2 were caught before" in told
    assert "0 of 1 mutants were caught" in told


LIKE = """
[[sums]]
what = "the second is subtracted"
function = "adding.py::add"
change = "a + b => a - b"
test = "tests/test_adding.py::test_elsewhere"

[[sums]]
what = "the order is another"
function = "adding.py::add"
change = "a + b => b + a"
test = "tests/test_adding.py::test_elsewhere"
"""
ELSEWHERE = """
import subprocess, sys

def test_elsewhere():
    code = "from deniable.adding import add; assert add(2, 3) == 5"
    subprocess.run([sys.executable, "-c", code], check=True)
"""


def test_no_mutant_runs_as_one_of_the_same_length_before_it(project, capsys):
    """A process that a test starts writes compiled code, known by its second and length."""
    (project / "tools/mutants.toml").write_text(LIKE)
    (project / "tests/test_adding.py").write_text(ELSEWHERE)
    assert mutants.main(["--workers", "1"], project) == 1
    assert "SURVIVED (no test failed): 1\n  sums: the order" in capsys.readouterr().out


def test_shards_are_all_mutants_once(project):
    table = mutants.read(project / "tools/mutants.toml")
    shards = [mutants.choose(table, [], f"{part}/3") for part in (1, 2, 3)]
    assert [len(shard) for shard in shards] == [2, 3, 3]
    assert sorted(m.name for shard in shards for m in shard) == sorted(OUTCOMES)
    assert [m.group for m in mutants.choose(table, ["names"], "1/1")] == ["names", "names"]


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "1/0", "a/b"])
def test_a_shard_that_is_none_is_refused(project, shard):
    with pytest.raises(SystemExit):
        mutants.main(["--shard", shard], project)


def test_a_group_that_is_none_is_refused(project, capsys):
    with pytest.raises(SystemExit):
        mutants.main(["sum"], project)
    assert "no group sum" in capsys.readouterr().err


def test_every_mutant_of_the_table_can_be_made(tmp_path):
    """Where it names what is not there, any test would fail, and would notice nothing."""
    table = mutants.read(mutants.ROOT / "tools" / "mutants.toml")
    assert len({mutant.name for mutant in table}) == len(table) >= 100
    sources = {
        mutant.file: (mutants.ROOT / "src" / "deniable" / mutant.file).read_text(
            encoding="utf-8"
        )
        for mutant in table
    }
    for number, mutant in enumerate(sorted(table, key=lambda mutant: mutant.file)):
        changed = mutant.apply(sources[mutant.file])
        assert changed != sources[mutant.file], mutant.name
        assert (mutants.ROOT / mutant.test_file).exists()
        (tmp_path / f"m{number}.py").write_text(f"# {mutant.name}\n{changed}")
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821,F823"]
    done = subprocess.run([*check, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
