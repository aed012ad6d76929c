"""`deniable watch`: a standing question, asked once and read every day."""

from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal
from deniable.errors import InvalidParameter

Until = Annotated[
    str | None, typer.Option(help="The last day, such as 2026-12-31.", metavar="DAY")
]
Since = Annotated[
    str | None, typer.Option(help="The first day; today when it begins.", metavar="DAY")
]
Every = Annotated[
    str, typer.Option(help="day, week, or a number of days in a step.", metavar="STEP")
]
Through = Annotated[
    str | None, typer.Option(help="Read the steps that are over by this day.", metavar="DAY")
]
Name = Annotated[str | None, typer.Option(help="A name; by default the question.")]
Rho = Annotated[str | None, typer.Option(help="The price in rho, instead of epsilon.")]
PerPerson = Annotated[
    int | None, typer.Option(help="How many rows of one person count in all steps together.")
]
Window = Annotated[
    int | None, typer.Option(help="Show the sum of that many last steps, instead of all.")
]
Wait = Annotated[int, typer.Option(help="Read a step that many days after it is over.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Only show what it would be. Spends nothing.")
]
Save = Annotated[
    Path | None, typer.Option("--save", help="Also write the numbers as CSV.", metavar="FILE")
]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Also draw them: .svg or .png.", metavar="FILE")
]


def watch(
    question: session_options.WatchedQuestion,
    epsilon: session_options.Epsilon = None,
    until: Until = None,
    since: Since = None,
    every: Every = "day",
    through: Through = None,
    name: Name = None,
    delta: session_options.Delta = None,
    rho: Rho = None,
    per_person: PerPerson = None,
    window: Window = None,
    wait: Wait = 0,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    explain: Explain = False,
    save: Save = None,
    plot: Plot = None,
) -> None:
    """Count by day, every day for a year, for one price.

    Run the same command every day. It reads the steps that are over, once each, and shows all
    numbers so far. The price is charged the first time, for all steps together.
    """
    if until is None:
        raise InvalidParameter("Give the last day, such as --until 2026-12-31.")
    prices = {"epsilon": epsilon, "delta": delta, "rho": rho}
    options: dict[str, Any] = {
        key: None if value is None else parse_decimal(value, key)
        for key, value in prices.items()
    }
    options |= {"until": until, "since": since, "every": read_every(every), "name": name}
    options |= {"per_person": per_person, "window": window, "wait": wait}
    options["confidence"] = parse_decimal(confidence, "confidence")
    for file in (save, plot):
        session_options.check_writable(file)
    if explain:
        with session_options.open_planner(policy, "planning") as planner:
            print(planner.watch(question, **options, explain=True))
        return
    with session_options.open_session(policy, "counting", analyst) as session:
        watched = session.watch(question, **options).read(through)
    print(watched)
    write(watched, save, plot)


def read_every(word: str) -> str | int:
    """The length of a step: a word, or a number of days.

    >>> read_every("week"), read_every("14")
    ('week', 14)
    """
    return int(word) if word.isdecimal() else word


def write(watched: Any, save: Path | None, plot: Path | None) -> None:
    """Writes the numbers as CSV, and as a picture."""
    if save is not None:
        watched.to_csv(save)
    if plot is not None:
        from deniable.figures.canvas import save as save_figure

        save_figure(watched.plot(), plot)
