"""A survey of the staff: made-up phones, the real page's endpoint, real coins."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import deniable as dp

if TYPE_CHECKING:
    from rich.console import Console

PHONES = 200
SHARE = 0.3  # made up
SURVEY = f"""
id = "night-shifts"
title = "Night shifts"
who = "Works council"
why = "To know how common it is, without knowing who."
epsilon = 1.1

[[questions]]
id = "slept"
kind = "yes-no"
design = "two-coins"
text = "Have you slept on a night shift this month?"
prefer_not_to_say = false
expected = [{1 - SHARE}, {SHARE}]
"""
_PROGRAM = "from deniable.app.cli import main; main()"


def ask_phones(console: "Console", folder: Path) -> None:
    """Serves a survey, lets phones answer, closes it, and prints the results."""
    from deniable.app.cli.surveys.simulated_people import send_simulated

    console.print("\n[bold]2. A question that nobody would answer honestly[/bold]")
    file = folder / "survey.toml"
    file.write_text(SURVEY, encoding="utf-8")
    survey = dp.surveys.load(file)
    try:
        with serve_survey(file) as url:
            send_simulated(survey, PHONES, url, None)
    except dp.MissingExtra as missing:
        console.print(f"No server, so no phones: {missing}")
        return
    _run(file, "close")
    report = _run(file, "report")
    console.print(
        "The staff answer on their own phones. Each phone flips two coins, so no report "
        f"proves anything, and the server never has a true answer. {PHONES} simulated phones "
        f"have sent their reports to the real page:\n{pick_result(report)}\nIn truth (made up) "
        f"{SHARE:.0%} of them would have said yes.",
        soft_wrap=True,
    )


def pick_result(report: str) -> str:
    """The lines of a printed report that hold the estimate.

    >>> pick_result("Night shifts\\n Have you?  estimate\\n yes  24 %\\nNobody saw it.")
    ' Have you?  estimate\\n yes  24 %'
    """
    words = (" estimate", " yes ")
    return "\n".join(
        line for line in report.splitlines() if any(word in line for word in words)
    )


@contextmanager
def serve_survey(file: Path) -> Iterator[str]:
    """The address of the survey while a process of its own serves it."""
    command = [*_command(file, "serve"), "--mode", "open", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            first = process.stdout.readline()
            if not first.startswith("Survey:"):
                raise dp.MissingExtra(process.stderr.read().strip())
            yield first.split()[1]
        finally:
            process.terminate()


def _command(file: Path, word: str) -> list[str]:
    return [sys.executable, "-c", _PROGRAM, "survey", word, str(file), "--rehearsal"]


def _run(file: Path, word: str) -> str:
    process = subprocess.run(_command(file, word), capture_output=True, text=True, check=False)
    if process.returncode:
        raise dp.CollectionUnavailable(process.stderr.strip())
    return process.stdout
