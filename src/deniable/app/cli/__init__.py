"""The command line `deniable`: one file for each command, run from here."""

import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from deniable.app.cli.command_table import COMMANDS, GROUPS, all_commands, one_command
from deniable.app.cli.quick_start import collect_rarely
from deniable.app.cli.terminal_text import degrade_output, escape_output, write_as_options
from deniable.errors import (
    AnswerWarning,
    BudgetExhausted,
    DeniableError,
    EngineFailed,
    KeyWarning,
    LedgerBroken,
    LedgerUnavailable,
    LedgerWarning,
    QuestionPending,
)

# How a command ends: with 0, or with one of these. Everything else that is refused ends with 2.
STATUS_BUDGET, STATUS_LEDGER, STATUS_ENGINE, STATUS_USAGE = 3, 4, 5, 2


def exit_status(problem: Exception) -> int:
    """The exit status of an error: a shell script can tell what to do about it."""
    if isinstance(problem, BudgetExhausted):
        return STATUS_BUDGET
    if isinstance(problem, LedgerBroken | LedgerUnavailable | QuestionPending):
        return STATUS_LEDGER
    return STATUS_ENGINE if isinstance(problem, EngineFailed) else STATUS_USAGE


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and exits: with status 0, or with one line of error and its status."""
    if arguments is None:
        collect_rarely()
    words = list(sys.argv[1:] if arguments is None else arguments)
    degrade_output()  # before anything is charged
    try:
        with escape_output(), warnings.catch_warnings():
            for kind in (AnswerWarning, KeyWarning, LedgerWarning):
                warnings.simplefilter("always", kind)
            warnings.showwarning = show_warning  # type: ignore[assignment]
            command = narrow(words)
            status = command(words or ["--help"], prog_name="deniable", standalone_mode=False)
    except (DeniableError, typer.TyperException) as problem:
        status = report_error(problem, words)
    except typer.Abort:
        status = 130
    sys.exit(status or 0)


def narrow(words: Sequence[str]) -> typer.Typer:
    """The command line with only the command that the words name, or the whole one.

    >>> [command.name for command in narrow(["sql", "--help"]).registered_commands]
    ['sql']
    """
    return one_command(words[0]) if words and words[0] in COMMANDS else all_commands()


def __getattr__(name: str) -> typer.Typer:
    """`app` is the whole command line, made when it is asked for: that takes a while."""
    if name == "app":
        return all_commands()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def show_warning(message: Warning | str, *_: object) -> None:
    """Prints a warning as one line, without the place in our code."""
    print(f"deniable: {message}", file=sys.stderr, flush=True)


def report_error(problem: Exception, words: Sequence[str]) -> int:
    """Prints one line to standard error: what is wrong, why, and where to find help."""
    from deniable.exact.foreign_text import printable  # slow to import

    context = getattr(problem, "ctx", None)
    named = words[:2] if words[0] in GROUPS else words[:1]
    command = context.command_path if context else " ".join(["deniable", *named])
    message = (
        describe_usage_error(problem.format_message(), context, words)
        if isinstance(problem, typer.TyperException)
        else write_as_options(str(problem))
    )
    line = printable(" ".join(message.split()))
    end = "" if line.endswith((".", "?", "!")) else "."
    status = exit_status(problem)
    # Other words would not help against an empty budget, a broken ledger or a failed engine.
    help_ = (
        f"{command} --help"
        if status == STATUS_USAGE
        else f"deniable errors {type(problem).__name__}"
    )
    print(f"{command}: {line}{end} See {help_}", file=sys.stderr)
    return status


def describe_usage_error(message: str, context: Any, words: Sequence[str]) -> str:
    """Typer's message; for an unknown option or a stray argument, one that says how to go on.

    Commands that take a question pass unknown options on, so Typer cannot name them.
    """
    from deniable.exact.suggestions import suggest  # slow to import

    extra = message.removeprefix("Got unexpected extra argument(s) ")
    if context is None or (extra == message and not message.startswith("No such option")):
        return message
    known = [name for parameter in context.command.params for name in parameter.opts]
    for word in words:
        name = word.partition("=")[0]
        if re.fullmatch("--[a-z][a-z-]*", name) and name not in known:
            return f"Unknown option {name}. {suggest(name, known, 'The options are')}"
    if extra == message:
        return message
    return (
        f"Unexpected argument: {extra[1:-1]}. Put a question in quotes, and write the name of "
        "each option, such as --epsilon 0.5."
    )
