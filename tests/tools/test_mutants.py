"""A small project with a test that notices one change and not another."""

import pytest

from tools import mutants

TABLE = """
[[sums]]
what = "one is added twice"
file = "adding.py"
find = "a + b"
put = "a + b + b"
test = "tests/test_adding.py::test_sums"

[[sums]]
what = "the order is another"
file = "adding.py"
find = "a + b"
put = "b + a"
test = "tests/test_adding.py::test_sums"

[[names]]
what = "what is not there any more"
file = "adding.py"
find = "a * b"
put = "a"
test = "tests/test_adding.py::test_sums"

[[names]]
what = "nothing can be imported"
file = "adding.py"
find = "def add"
put = "def ad d"
test = "tests/test_adding.py::test_sums"
"""


@pytest.fixture
def project(tmp_path):
    for name, text in {
        "tools/mutants.toml": TABLE,
        "src/deniable/__init__.py": "",
        "src/deniable/adding.py": "def add(a, b):\n    return a + b\n",
        "tests/test_adding.py": (
            "from deniable.adding import add\n\n\ndef test_sums():\n    assert add(2, 3) == 5\n"
        ),
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_what_a_test_notices_is_caught_and_the_rest_is_named(project, capsys):
    before = (project / "src/deniable/adding.py").read_text()
    assert mutants.main([], project) == 3
    told = capsys.readouterr().out
    assert "caught   sums: one is added twice" in told
    assert "SURVIVED sums: the order is another" in told
    assert "GONE     names: what is not there any more" in told
    assert "SURVIVED names: nothing can be imported" in told  # no test ran at all
    assert "1 of 4 mutants were caught." in told
    assert (project / "src/deniable/adding.py").read_text() == before


def test_tests_that_fail_anyway_prove_nothing(project, capsys):
    (project / "tests/test_adding.py").write_text("def test_sums():\n    assert False\n")
    assert mutants.main(["sums"], project) == 1
    assert "mend that first" in capsys.readouterr().out


def test_every_mutant_of_the_table_can_be_read():
    listed = mutants.read(mutants.ROOT / "tools" / "mutants.toml")
    assert len({one.name for one in listed}) == len(listed) >= 100
    for one in listed:
        assert one.find != one.put
        source = mutants.ROOT / "src" / "deniable" / one.file
        assert source.read_text(encoding="utf-8").count(one.find) == 1, one.name
        assert (mutants.ROOT / one.test.partition("::")[0]).exists()
