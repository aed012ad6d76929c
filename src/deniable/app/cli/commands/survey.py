"""`deniable survey`: draft, plan, check and rehearse a survey. Others add more commands."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.argument_values import parse_decimal

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.surveys import SurveyPlan

survey = typer.Typer(
    help="Surveys with coins: draft, plan, check, rehearse and read them.",
    no_args_is_help=True,
)

File = Annotated[
    Path, typer.Argument(help="The questionnaire, .toml or .json.", metavar="FILE")
]
Confidence = Annotated[
    str, typer.Option(help="The confidence of the intervals.", metavar="SHARE")
]

DRAFT = """id = "my-survey"
title = "A shameful question"
who = "Sports Research Group, University of Example"
why = "To know how common doping is, without knowing who does it."
epsilon = 2                               # the price of all answers of one person together
collection = "one-question-each"          # or "everyone-answers-all", which splits epsilon
languages = ["en"]

[[questions]]
id = "doping"
kind = "yes-no"                           # single-choice, multiple-choice, scale or number
text = "Have you used a forbidden substance this year?"
prefer_not_to_say = true                  # an answer like any other, protected by the coins
expected = [0.85, 0.1, 0.05]              # a guess, for plans and rehearsals: no, yes, declined

[[questions]]
id = "supplier"
kind = "single-choice"
text = "Who offered it to you?"
options = ["no one", "a coach", "a doctor", "another athlete", "someone else"]
prefer_not_to_say = true

[[questions]]
id = "pressure"
kind = "scale"
text = "How much pressure do you feel to use one? (1: none, 5: very much)"
points = 5
prefer_not_to_say = true

[[questions]]
id = "age"
kind = "single-choice"
text = "How old are you?"
private = false                           # sent as it is
options = ["under 25", "25 to 39", "40 or more"]
"""


@survey.command()
def new(
    file: Annotated[Path, typer.Argument(help="The file to write.", metavar="FILE")],
) -> None:
    """Write a questionnaire to start from."""
    if file.suffix != ".toml":
        raise dp.InvalidParameter(f"A draft must be a .toml file. Found {file.name!r}.")
    if file.exists():
        raise dp.InvalidParameter(f"{file.name} exists already. Choose another name.")
    file.write_text(DRAFT, encoding="utf-8")
    print(f"{file}: change it, then `deniable survey lint {file}`")


@survey.command()
def plan(
    file: File,
    margin: Annotated[
        str, typer.Option(help="The margin of each share.", metavar="SHARE")
    ] = "0.03",
    people: Annotated[
        int | None, typer.Option(help="How many people can be asked.", min=1)
    ] = None,
    confidence: Confidence = "0.95",
    response_rate: Annotated[
        str, typer.Option(help="The share of people who answer.", metavar="SHARE")
    ] = "1",
) -> None:
    """Say how many people each question needs, and how to divide epsilon."""
    questionnaire = dp.surveys.load(file)
    survey_plan = dp.surveys.plan(
        questionnaire,
        margin=parse_decimal(margin, "margin"),
        confidence=parse_decimal(confidence, "confidence"),
        people=people,
        response_rate=parse_decimal(response_rate, "response_rate"),
    )
    from rich.console import Console

    console = Console(highlight=False)
    console.print(plan_table(survey_plan, margin, people))
    console.print(COLUMN_NOTES)
    for line in survey_plan.lines:
        console.print(f"{line.question}: {line.why}.")
    console.print(f"Ask [bold]{survey_plan.people:,} people[/bold] for all of them.")
    if survey_plan.ways is not None:
        chosen = {"everyone-answers-all": "split", "one-question-each": "one each"}
        console.print(survey_plan.ways.why)
        if chosen[questionnaire.collection] != survey_plan.ways.best:
            console.print(f"This questionnaire says {questionnaire.collection!r}.")


@survey.command()
def lint(file: File) -> None:
    """Look for faults that leak answers in spite of the coins; status 1 if there is one."""
    findings = dp.surveys.lint(dp.surveys.load(file))
    for finding in findings:
        print(finding)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)
    if not findings:
        print("Nothing found.")


@survey.command()
def simulate(
    file: File,
    people: Annotated[int, typer.Option(help="The number of made-up people.", min=1)],
    out: Annotated[
        Path | None, typer.Option(help="The file of the reports.", metavar="REPORTS")
    ] = None,
    send: Annotated[
        str | None, typer.Option(help="The URL of a rehearsal to send them to.", metavar="URL")
    ] = None,
    invitations: Annotated[
        Path | None, typer.Option(help="Invitations to that rehearsal.", metavar="CSV")
    ] = None,
) -> None:
    """Rehearse with made-up people, and write or send the reports that they would send."""
    questionnaire = dp.surveys.load(file)
    if (out is None) == (send is None):
        raise dp.InvalidParameter("Give either --out, a file, or --send, a URL.")
    if send is not None:
        from deniable.app.cli.surveys.simulated_people import send_simulated

        send_simulated(questionnaire, people, send, invitations)
        print(f"{people:,} made-up people have answered at {send}")
        return
    assert out is not None
    simulation = dp.surveys.simulate(questionnaire, people)
    out.write_text("\n".join(simulation.collected.lines()) + "\n", encoding="utf-8")
    print(f"{out}: {people:,} reports; read them with `deniable survey report {file} {out}`")


COLUMN_NOTES = (
    "People: how many people the survey must ask, for any true share. Directly: how many this "
    "question would need without coins. Effect: the factor that coins add at the expected "
    "share (one in ten if none is given; for numbers, at worst), so it is not the ratio of "
    "the two."
)


def plan_table(plan: "SurveyPlan", margin: str, people: int | None) -> "Table":
    """A row for each question."""
    headings = ["question", "epsilon", f"people for ± {margin}", "directly", "effect"]
    table = empty_table(*headings, *([f"± with {people:,}", "power"] if people else []))
    for line in plan.lines:
        reached = (
            [] if line.margin is None else [f"{line.margin:.3f}", format_power(line.power)]
        )
        numbers = f"{line.epsilon:.3g}", f"{line.people:,}", f"{line.direct:,}"
        table.add_row(line.question, *numbers, f"{line.design_effect:.1f} x", *reached)
    return table


def format_power(chance: float | None) -> str:
    """The probability of detecting a share above 0; "-" for a mean."""
    from deniable.exact.text_formats import percent_tenths

    return "-" if chance is None else percent_tenths(chance)


def empty_table(*headings: str) -> "Table":
    """A table with a line under its headings and no other lines."""
    from rich import box
    from rich.table import Table

    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)
