"""`deniable prove`, on files as a user would write them."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main

PROGRAMS = """
from fractions import Fraction

def two_coins(x, flip):
    return x if flip(Fraction(1, 2)) else flip(Fraction(1, 2))

def same_coin(x, flip, p):
    return x if flip(p) else flip(p)

def count(data, choose):
    return sum(data) + choose([1, 2, 1])

broken = None
"""


@pytest.fixture
def prove(tmp_path):
    file = tmp_path / "coins.py"
    file.write_text(PROGRAMS, encoding="utf-8")

    def run(function, *words):
        result = CliRunner().invoke(app, ["prove", f"{file}:{function}", *words])
        return result.exit_code, result.output

    return run


def test_two_coins(prove):
    status, text = prove("two_coins", "--domain", "0,1", "--odds", "2")
    assert status == 0
    assert text.startswith(
        "epsilon = ln 3 = 1.0986122886681098, worst at output 1, inputs 1 and 0"
    )
    assert "delta at epsilon = ln 2: 1/4" in text


def test_an_open_parameter(prove):
    status, text = prove("same_coin", "--over", "p=0:1")
    assert status == 0
    assert "ln((2 - p)/(1 - p)) for p from 0 to 1/2" in text


def test_what_is_not_private_has_status_one(prove):
    words = ("--domain", "0,1", "--size", "2", "--neighbors", "replace")
    status, text = prove("count", *words)
    assert status == 1
    assert text.startswith("not private at any epsilon")
    assert "output 4 is possible only for (1, 1)" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.py:f"], "no file"),
        (["coins"], "Name a file"),
        (["FILE:nothing"], "no `nothing`"),
        (["FILE:two_coins", "--size", "2"], "neighbors"),
        (["FILE:same_coin", "--over", "p"], "p=0:1"),
        (["FILE:same_coin", "--over", "p=a:1"], "number"),
        (["FILE:same_coin"], "`p`"),
    ],
)
def test_bad_words_get_one_line(tmp_path, capsys, words, told):
    file = tmp_path / "coins.py"
    file.write_text(PROGRAMS, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["prove", *(word.replace("FILE", str(file)) for word in words)])
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert error.count("\n") == 1
    assert told in error


def test_a_file_that_fails_is_named(tmp_path, capsys):
    file = tmp_path / "slip.py"
    file.write_text("1 / 0", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["prove", f"{file}:f"])
    assert "failed: ZeroDivisionError" in capsys.readouterr().err
