"""The command line `deniable`: one file for each command, assembled here."""

import re
import sys
import warnings
from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any

import typer

from deniable.app.cli.attacking import attack
from deniable.app.cli.commands import (
    audit,
    budget,
    check,
    demo,
    explain,
    init,
    kernel,
    label,
    ledger,
    odds,
    plot,
    price,
    profile,
    prove,
    publish,
    sql,
    survey,
    tables,
    verify,
    version,
)
from deniable.app.cli.inferring import compare
from deniable.app.cli.learning import model_commands
from deniable.app.cli.quick_start import collect_rarely
from deniable.app.cli.serving import access, publish_releases, serve, user
from deniable.app.cli.show_errors import show_errors
from deniable.app.cli.streams import watch
from deniable.app.cli.surveys import (
    invite_people,
    page_check,
    paper_survey,
    publish_survey,
    report_results,
    serve_survey,
)
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

app = typer.Typer(
    help="Private answers with exact noise, and their price.",
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(attack.attack)
app.command()(audit.audit)
app.command()(budget.budget)
app.command()(check.check)
app.command(context_settings={"ignore_unknown_options": True})(compare.compare)
app.command()(publish.copy)
app.command()(publish.crosstabs)
app.command()(demo.demo)
app.command("errors")(show_errors)
# A question may begin with a minus sign, such as the comment "-- by ward".
app.command(context_settings={"ignore_unknown_options": True})(explain.explain)
app.command()(init.init)
app.command()(kernel.kernel)
app.command()(label.label)
app.add_typer(model_commands.app, name="learn")
app.command()(profile.limits)
app.add_typer(ledger.ledger, name="ledger")
# A negative epsilon gets its own message, not "no such option: -1".
app.command(context_settings={"ignore_unknown_options": True})(odds.odds)
app.add_typer(plot.plot, name="plot")
app.add_typer(price.price, name="price")
app.command()(profile.profile)
app.command()(prove.prove)
app.command()(publish_releases.publish)
app.command(context_settings={"ignore_unknown_options": True})(sql.sql)
app.command()(serve.serve)
survey.survey.command()(serve_survey.serve)
survey.survey.command()(invite_people.invite)
survey.survey.command()(serve_survey.close)
survey.survey.command()(publish_survey.publish)
survey.survey.command()(page_check.check)
survey.survey.command()(paper_survey.cards)
survey.survey.command()(paper_survey.collect)
survey.survey.command()(report_results.report)
app.add_typer(survey.survey, name="survey")
app.command()(tables.tables)
app.add_typer(access.tokens, name="token")
app.command()(serve.unlock)
app.add_typer(user.users, name="user")
app.command()(verify.verify)
app.command()(version.version)
app.command(context_settings={"ignore_unknown_options": True})(watch.watch)
app.command()(user.who)


def print_version(asked: bool) -> None:
    """Prints the version and ends, if that was asked."""
    if asked:
        version.version()
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=print_version
        ),
    ] = False,
) -> None:
    """Private answers with exact noise, and their price."""


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
            chosen = narrow(words)
            status = chosen(words or ["--help"], prog_name="deniable", standalone_mode=False)
    except (DeniableError, typer.TyperException) as problem:
        status = report_error(problem, words)
    except typer.Abort:
        status = 130
    sys.exit(status or 0)


def narrow(words: Sequence[str]) -> typer.Typer:
    """The command line with only the command that the words name, or the whole one.

    Typer builds every command that it knows, and that takes longer than to run one.

    >>> [command.callback.__name__ for command in narrow(["sql", "--help"]).registered_commands]
    ['sql']
    """
    named = [
        command
        for command in app.registered_commands
        if command.callback and words[:1] == [command.name or command.callback.__name__]
    ]
    if len(named) != 1:
        return app
    narrowed = copy(app)
    narrowed.registered_commands, narrowed.registered_groups = named, []
    return narrowed


def show_warning(message: Warning | str, *_: object) -> None:
    """Prints a warning as one line, without the place in our code."""
    print(f"deniable: {message}", file=sys.stderr, flush=True)


def report_error(problem: Exception, words: Sequence[str]) -> int:
    """Prints one line to standard error: what is wrong, why, and where to find help."""
    from deniable.exact.foreign_text import printable  # slow to import

    context = getattr(problem, "ctx", None)
    groups = {group.name for group in app.registered_groups}
    named = words[:2] if words[0] in groups else words[:1]
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
