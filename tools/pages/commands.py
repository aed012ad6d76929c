"""The reference of the command line, made from the commands themselves."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from deniable.app.cli import app

PATH = "reference/commands.md"
_INTRODUCTION = """# The command line

Made from the code. `deniable COMMAND --help` prints the same. Every command ends with status
0, or with one line that says what is wrong:

| status | meaning |
|---|---|
| 2 | the words, the policy or the question cannot be used; nothing was spent |
| 3 | the budget does not suffice; nothing was spent |
| 4 | the ledger cannot be used, or the question is pending |
| 5 | the engine failed after the charge |
"""


def write_pages() -> dict[str, str]:
    """The page, by its path below docs/."""
    parts = [_INTRODUCTION]
    for path, command in commands():
        parts.append(_write_command(path, command))
    return {PATH: "\n".join(parts)}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, such as "deniable ledger verify"."""
    yield from _walk("deniable", typer.main.get_command(app))


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    inside = getattr(command, "commands", None)
    if inside is None:
        yield path, command
        return
    for name in sorted(inside):
        yield from _walk(f"{path} {name}", inside[name])


def _write_command(path: str, command: Any) -> str:
    parameters = [
        parameter for parameter in command.params if not getattr(parameter, "hidden", False)
    ]
    arguments = [
        parameter for parameter in parameters if parameter.param_type_name == "argument"
    ]
    options = [
        parameter
        for parameter in parameters
        if parameter.param_type_name == "option" and parameter.name != "help"
    ]
    words = [
        _word(parameter) if parameter.required else f"[{_word(parameter)}]"
        for parameter in arguments
    ]
    usage = " ".join([path, *(["[OPTIONS]"] if options else []), *words])
    help_ = " ".join((command.help or "").split())
    lines = [f"## {path}\n", f"```text\n{usage}\n```\n", f"{help_}\n"]
    if parameters:
        lines += ["| word | meaning |", "|---|---|"]
        lines += [
            f"| `{_word(parameter)}` | {_sentence(parameter)} |" for parameter in arguments
        ]
        lines += [
            f"| `{_option(parameter)}` | {_sentence(parameter)} |" for parameter in options
        ]
    return "\n".join(lines) + "\n"


def _word(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _option(option: Any) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    return f"{names} {option.metavar or _kind(option)}".replace("|", "/")


def _sentence(parameter: Any) -> str:
    text = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
    default = parameter.default
    plain = isinstance(default, int | float | str) and not isinstance(default, bool)
    if plain and default != "" and f"{default}" not in text:
        text = f"{text} Default: `{default}`."
    return text.strip()


def _kind(option: Any) -> str:
    shown = re.sub(r"<(?:list\[)?|\]?>| range", "", option.display_type(None))
    known = {"str": "TEXT", "int": "NUMBER", "float": "NUMBER", "path": "FILE"}
    return known.get(shown, shown.upper())
