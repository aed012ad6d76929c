"""The command line as a whole: help, versions, and one line for bad words."""

import re
import subprocess
import sys

import pytest

import deniable as dp
from deniable import errors
from deniable.app import cli
from deniable.app.cli import main

COMMANDS = ("demo", "explain", "init", "odds", "sql", "tables", "version")


@pytest.fixture
def deniable(capsys):
    """`deniable("odds", "1")` runs the command: (exit status, standard output and error)."""

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main(words)
        told = capsys.readouterr()
        return left.value.code, told.out, told.err

    return run


def test_version(deniable):
    for word in ("version", "--version"):
        status, out, _ = deniable(word)
        assert (status, out.split()[:2]) == (0, ["deniable", dp.__version__])


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_help_names_every_command(deniable, words):
    status, out, _ = deniable(*words)
    assert status == 0
    assert all(re.search(rf"\b{command}\b", out) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(deniable, command):
    status, out, _ = deniable(command, "--help")
    assert status == 0
    assert "Usage: deniable" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("odds", "0.x"), "must be a number"),
        (("odds", "-1"), "must not be negative"),
        (("odds", "nan"), "must be finite"),
        (("odds", "inf"), "must be finite"),
        (("odds", "1001"), "protects nothing"),
        (("odds", "1e999999999"), "range"),
        (("odds", "1e-999999999"), "range"),
        (("odds",), "Name one loss"),
        (("odds", "1", "--odds", "3"), "Name one loss"),
        (("odds", "--odds", "0.5"), "at least 1"),
        (("odds", "1", "--delta", "2"), "delta"),
        (("odds", "1", "--delta", "-1"), "delta"),
        (("odds", "1", "2"), "2"),
        (("odd", "1"), "odd"),
        (("--verbose",), "--verbose"),
    ],
)
def test_bad_words_get_one_line_and_status_two(deniable, words, told):
    status, out, err = deniable(*words)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("deniable")
    assert told in err
    assert "--help" in err


def test_a_quick_command_loads_nothing_slow():
    code = (
        "import sys\nfrom deniable.app.cli import main\n"
        "try: main(['version'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not set(run.stdout.split()) & {"numpy", "scipy", "rich.console", "rich.table"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sql", "SELECT 1", "--epsilom", "1"), "Unknown option --epsilom. Did you mean `--ep"),
        (("budget", "--polic=x"), "Unknown option --polic. Did you mean `--policy`?"),
        (("sql", "SELECT", "COUNT(*)"), "Unexpected argument: COUNT(*). Put a question in quo"),
        (("price", "count", "--epsilon", "0"), "See deniable price count --help"),
        (("sql", "SELECT 1", "0.5"), "write the name of each option, such as --epsilon 0.5."),
    ],
)
def test_a_wrong_argument_gets_a_hint(deniable, words, message):
    status, _, err = deniable(*words)
    assert status == 2
    assert message in err


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (errors.InvalidQuery("x"), 2),
        (errors.BudgetExhausted("x"), 3),
        (errors.LedgerBroken("x"), 4),
        (errors.LedgerUnavailable("x"), 4),
        (errors.EngineFailed("7"), 5),
    ],
)
def test_each_kind_of_error_has_its_exit_status(problem, status):
    assert cli.exit_status(problem) == status


def test_messages_speak_the_language_of_a_shell():
    told = cli.write_as_options(
        'Declare   ward = { keys = ["A"] }   (in Python: keys={"ward": ["A"]}) or ask with '
        "epsilon=0.25, delta=1e-06, analyst='ann', other=True; `max_rows` is 2."
    )
    assert told == (
        'Declare   ward = { keys = ["A"] } or ask with --epsilon 0.25, --delta 1e-06, '
        "--analyst 'ann', --other; --max-rows is 2."
    )


def test_shells_complete_commands(deniable):
    status, out, _ = deniable("--show-completion", "bash")
    assert status == 0
    assert "_DENIABLE_COMPLETE" in out


@pytest.mark.parametrize("words", [["sql"], ["errors"], ["version", "--help"]])
def test_a_named_command_is_built_alone(words):
    chosen = cli.narrow(words)
    assert len(chosen.registered_commands) == 1
    assert not chosen.registered_groups
    assert len(cli.all_commands().registered_commands) > 20


@pytest.mark.parametrize("words", [[], ["--help"], ["ledger", "check"], ["slq"]])
def test_other_words_get_every_command(words):
    assert cli.narrow(words) is cli.app is cli.all_commands()
