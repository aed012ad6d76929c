"""A small project with a test that notices one change and not another."""

import ast

import pytest

from tools import mutants

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
function = "adding.py::add"
change = "return $sum => return return"
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


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ("f(x,y) => x", "    return x + g(x)"),  # the layout does not matter
        ("f($*all) => g($*all)", "    return g(x, y) + g(x)"),
        ("$name($first, $*rest) + $other => $first", "    return (x)"),
        ("return $all => y = 1\nreturn y", "    y = 1\n    return y"),
    ],
)
def test_a_change_is_made_in_the_syntax_tree(change, changed):
    source = "def h(x, y):\n    return f(\n        x, y  # both\n    ) + g(x)\n"
    mutant = mutants.Mutant("group", "what", "file.py::h", change, "test")
    assert mutant.apply(source) == f"def h(x, y):\n{changed}\n"


@pytest.mark.parametrize(
    ("function", "change"),
    [
        ("file.py::A.f", "x => y"),  # twice there
        ("file.py::A.f", "z => y"),  # nowhere there
        ("file.py::A.g", "x => y"),  # no such function
        ("file.py::A.f", "$same * $same => 1"),  # one name, one meaning
    ],
)
def test_a_change_that_is_not_there_exactly_once_is_gone(function, change):
    source = "class A:\n    def f(self, x):\n        return x + self.y * x\n"
    with pytest.raises(mutants.Gone):
        mutants.Mutant("group", "what", function, change, "test").apply(source)


def test_every_mutant_of_the_table_can_be_made():
    table = mutants.read(mutants.ROOT / "tools" / "mutants.toml")
    assert len({mutant.name for mutant in table}) == len(table) >= 100
    sources = {
        mutant.file: (mutants.ROOT / "src" / "deniable" / mutant.file).read_text(
            encoding="utf-8"
        )
        for mutant in table
    }
    trees = {file: ast.dump(ast.parse(source)) for file, source in sources.items()}
    for mutant in sorted(table, key=lambda mutant: mutant.file):
        changed = mutant.apply(sources[mutant.file])
        assert ast.dump(ast.parse(changed)) != trees[mutant.file], mutant.name
        assert (mutants.ROOT / mutant.test.partition("::")[0]).exists()
