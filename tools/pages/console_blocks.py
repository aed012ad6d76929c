"""The shell commands of a page: they are run, and the outputs that it shows are compared.

    ```console
    $ deniable price count --epsilon 0.5
    ± 6 at 95 % confidence (Laplace noise of epsilon 0.5; standard error 2.799).
    ```

Every command of such a block must succeed. Lines below it are its output; a command without
them may print anything. `console background` starts a command that stays, such as a server on
port 8000, and shows its first lines. `console elsewhere` is not run, because it needs another
machine or hours: its commands and options must exist.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

import typer

from deniable.app.cli import main, narrow
from tools.notebook_shell import MAGIC, Shell

_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)
_SHELL_WORDS = re.compile(r"[|<>;&`]|\$\(")  # outside of quotes: bash is needed


@dataclass(frozen=True)
class Command:
    """A command, what is shown below it, and where that is in the block."""

    text: str
    shown: str | None
    span: tuple[int, int]


def commands(block: str) -> list[Command]:
    """The commands of a block.

    >>> commands("$ one  # first\\n$ two\\nshown\\n")[1]
    Command(text='two', shown='shown\\n', span=(21, 27))
    """
    matches = list(_COMMAND.finditer(block))
    ends = [match.start() for match in matches[1:]] + [len(block)]
    return [
        Command(match[1], block[match.end() : end] or None, (match.end(), end))
        for match, end in zip(matches, ends, strict=True)
    ]


def run_command(text: str, shell: Shell) -> str:
    """What a command prints. Ours run in this process, because a start takes a second."""
    words = shlex.split(shell.localize(text).replace("\\\n", " "), comments=True)
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    if words[0] != "deniable" or _SHELL_WORDS.search(bare):
        return shell.run(f"{MAGIC}{text}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            main(words[1:])
        except SystemExit as left:
            status = left.code
    assert not status, f"$ {text}\n{printed.getvalue()}"
    return shell.globalize(printed.getvalue())


def unknown_options(text: str) -> Iterator[str]:
    """What is wrong with a command that is not run: no such command, or no such option.

    >>> list(unknown_options("deniable price count --epsilom 1"))
    ['--epsilom']
    >>> list(unknown_options("make demo")), list(unknown_options("deniable budgets"))
    ([], ['budgets'])
    """
    words = shlex.split(text.replace("\\\n", " "), comments=True)
    if words[0] != "deniable":
        return
    command = typer.main.get_command(narrow([]))
    rest = words[1:]
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            yield rest[0]
            return
        command, rest = command.commands[rest[0]], rest[1:]
    known = {
        name for option in command.params for name in (*option.opts, *option.secondary_opts)
    }
    for word in rest:
        if word.startswith("--") and word.partition("=")[0] not in known | {"--help"}:
            yield word
