"""Every command is listed, and one is started without the modules of the others."""

import subprocess
import sys

import pytest
import typer

from deniable.app.cli.command_table import COMMANDS, GROUPS, all_commands, one_command

QUESTION = ("explain", "sql", "odds", "compare", "watch")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_alone_is_the_one_of_the_whole(name):
    alone = typer.main.get_command(one_command(name))
    whole = typer.main.get_command(all_commands())
    assert list(alone.commands) == [name]
    for command in (alone.commands[name], whole.commands[name]):
        assert command.callback.__module__.endswith(COMMANDS[name].partition(":")[0])
        assert command.context_settings["ignore_unknown_options"] == (name in QUESTION)


def test_groups_have_their_commands():
    whole = typer.main.get_command(all_commands())
    assert set(whole.commands) == set(COMMANDS) | set(GROUPS)
    assert all(whole.commands[name].commands for name in GROUPS)
    survey = set(whole.commands["survey"].commands)
    assert survey >= {"new", "plan", "lint", "simulate", "serve", "cards", "report"}


def test_a_command_loads_no_other_one():
    code = (
        "import sys\nfrom deniable.app.cli import main\n"
        "try: main(['sql', '--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {name for name in run.stdout.split() if name.startswith("deniable.app.cli.")}
    others = {place.partition(":")[0] for place in [*COMMANDS.values(), *GROUPS.values()]}
    commands = {name for name in loaded if name.removeprefix("deniable.app.cli.") in others}
    assert commands == {"deniable.app.cli.commands.sql"}
