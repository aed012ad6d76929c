"""Which command is in which module: a command starts without the modules of the others."""

from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

_PLACE = "deniable.app.cli."
# Each command, by its name: the module that holds it, and its function.
COMMANDS = {
    "attack": "attacking.attack:attack",
    "audit": "commands.audit:audit",
    "budget": "commands.budget:budget",
    "check": "commands.check:check",
    "compare": "inferring.compare:compare",
    "copy": "commands.publish:copy",
    "crosstabs": "commands.publish:crosstabs",
    "demo": "commands.demo:demo",
    "errors": "show_errors:show_errors",
    "explain": "commands.explain:explain",
    "init": "commands.init:init",
    "kernel": "commands.kernel:kernel",
    "label": "commands.label:label",
    "limits": "commands.profile:limits",
    "odds": "commands.odds:odds",
    "profile": "commands.profile:profile",
    "prove": "commands.prove:prove",
    "publish": "serving.publish_releases:publish",
    "sql": "commands.sql:sql",
    "serve": "serving.serve:serve",
    "tables": "commands.tables:tables",
    "unlock": "serving.serve:unlock",
    "verify": "commands.verify:verify",
    "version": "commands.version:version",
    "watch": "streams.watch:watch",
    "who": "serving.user:who",
}
# Commands with commands of their own.
GROUPS = {
    "learn": "learning.model_commands:app",
    "ledger": "commands.ledger:ledger",
    "plot": "commands.plot:plot",
    "price": "commands.price:price",
    "survey": "commands.survey:survey",
    "token": "serving.access:tokens",
    "user": "serving.user:users",
}
_SURVEY_COMMANDS = {
    "serve": "surveys.serve_survey:serve",
    "invite": "surveys.invite_people:invite",
    "close": "surveys.serve_survey:close",
    "publish": "surveys.publish_survey:publish",
    "check": "surveys.page_check:check",
    "cards": "surveys.paper_survey:cards",
    "collect": "surveys.paper_survey:collect",
    "report": "surveys.report_results:report",
}
# A question may begin with a minus sign, such as the comment "-- by ward", and a negative
# epsilon gets its own message, not "no such option: -1".
_MAY_BEGIN_WITH_MINUS = ("compare", "explain", "odds", "sql", "watch")


def print_version(wanted_version: bool) -> None:
    """Prints the version and ends, if that was asked."""
    if wanted_version:
        _load(COMMANDS["version"])()
        raise typer.Exit


def options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=print_version
        ),
    ] = False,
) -> None:
    """Private answers with exact noise, and their price."""


def one_command(name: str) -> typer.Typer:
    """The command line with one command only.

    Typer builds every command that it knows, and that takes longer than to run one.

    >>> [command.name for command in one_command("sql").registered_commands]
    ['sql']
    """
    app = _empty()
    _add(app, name)
    return app


@cache
def all_commands() -> typer.Typer:
    """The whole command line."""
    app = _empty()
    for name in sorted(COMMANDS | GROUPS):
        if name in COMMANDS:
            _add(app, name)
        else:
            app.add_typer(_group(name), name=name)
    return app


def _empty() -> typer.Typer:
    app = typer.Typer(
        help="Private answers with exact noise, and their price.",
        add_completion=True,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    return app


def _add(app: typer.Typer, name: str) -> None:
    settings = {"ignore_unknown_options": name in _MAY_BEGIN_WITH_MINUS}
    app.command(name, context_settings=settings)(_load(COMMANDS[name]))


def _group(name: str) -> typer.Typer:
    group: typer.Typer = _load(GROUPS[name])
    if name == "survey":
        for inside, place in _SURVEY_COMMANDS.items():
            group.command(inside)(_load(place))
    return group


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(_PLACE + module), name)
