"""`deniable survey`: draft, plan, check, rehearse and read a survey."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.commands.odds import number
from deniable.app.cli.number_format import percent

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.surveys import SurveyPlan, SurveyReport
    from deniable.surveys.estimate.question_pairs import QuestionPair
    from deniable.surveys.survey_report import QuestionResult

survey = typer.Typer(
    help="Surveys with coins: draft, plan, check, rehearse and read them.",
    no_args_is_help=True,
)

File = Annotated[
    Path, typer.Argument(help="The questionnaire, .toml or .json.", metavar="FILE")
]
Reports = Annotated[
    Path, typer.Argument(help="The reports, a JSON line each.", metavar="REPORTS")
]
Confidence = Annotated[str, typer.Option(help="Of the intervals.", metavar="SHARE")]

DELTA = 1e-6  # at which amplification by a shuffler is stated

DRAFT = """id = "my-survey"
title = "A shameful question"
epsilon = 2                               # what all answers of one person may cost together
collection = "one-question-each"          # or "everyone-answers-all", which splits epsilon
languages = ["en"]

[[questions]]
id = "doping"
kind = "yes-no"                           # single-choice, multiple-choice, scale or number
text = "Have you used a forbidden substance this year?"
prefer_not_to_say = true                  # an answer like any other, inside the coins
expected = [0.85, 0.1, 0.05]              # a guess, for plans and rehearsals: no, yes, declined

[[questions]]
id = "supplier"
kind = "single-choice"
text = "Who offered it to you?"
options = ["nobody", "a coach", "a doctor", "another athlete", "somebody else"]
prefer_not_to_say = true

[[questions]]
id = "pressure"
kind = "scale"
text = "How much pressure do you feel to use one? (1: none, 5: much)"
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
        raise dp.InvalidParameter(f"A draft is written as .toml. Found {file.name!r}.")
    if file.exists():
        raise dp.InvalidParameter(f"{file.name} is there already, and is left alone.")
    file.write_text(DRAFT, encoding="utf-8")
    print(f"{file}: change it, then `deniable survey lint {file}`")


@survey.command()
def plan(
    file: File,
    margin: Annotated[
        str, typer.Option(help="Wanted: plus or minus.", metavar="SHARE")
    ] = "0.03",
    people: Annotated[int | None, typer.Option(help="How many can be asked.", min=1)] = None,
    confidence: Confidence = "0.95",
    response_rate: Annotated[str, typer.Option(help="Who answers.", metavar="SHARE")] = "1",
) -> None:
    """Say how many people each question needs, and how to share out epsilon."""
    questionnaire = dp.surveys.load(file)
    found = dp.surveys.plan(
        questionnaire,
        margin=number(margin, "margin"),
        confidence=number(confidence, "confidence"),
        people=people,
        response_rate=number(response_rate, "response_rate"),
    )
    from rich.console import Console

    console = Console(highlight=False)
    console.print(planned(found, margin, people))
    console.print(COLUMNS)
    for one in found.lines:
        console.print(f"{one.question}: {one.why}.")
    console.print(f"Ask [bold]{found.people:,} people[/bold] for all of them.")
    if found.ways is not None:
        chosen = {"everyone-answers-all": "split", "one-question-each": "one each"}
        console.print(found.ways.why)
        if chosen[questionnaire.collection] != found.ways.best:
            console.print(f"This questionnaire says {questionnaire.collection!r}.")


@survey.command()
def lint(file: File) -> None:
    """Look for what would leak answers in spite of the coins; status 1 if something does."""
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
    people: Annotated[int, typer.Option(help="How many made-up people.", min=1)],
    out: Annotated[Path, typer.Option(help="Where the reports go.", metavar="REPORTS")],
) -> None:
    """Rehearse with made-up people, and write what they would send."""
    questionnaire = dp.surveys.load(file)
    made = dp.surveys.simulate(questionnaire, people)
    out.write_text("\n".join(made.collected.lines()) + "\n", encoding="utf-8")
    print(f"{out}: {people:,} reports; read them with `deniable survey report {file} {out}`")


@survey.command()
def report(
    file: File,
    reports: Reports,
    confidence: Confidence = "0.95",
    pictures: Annotated[
        Path | None, typer.Option(help="A folder for pictures.", metavar="FOLDER")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="One of the questionnaire's.", metavar="LANGUAGE")
    ] = None,
) -> None:
    """Show estimates with intervals, cross-tabs, and what an answer proves."""
    questionnaire = dp.surveys.load(file)
    collected = dp.surveys.read_reports(questionnaire, reports)
    level = number(confidence, "confidence")
    found = dp.surveys.report(questionnaire, collected, confidence=level, language=language)
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"\n[bold]{found.title}[/bold]: {found.respondents:,} respondents\n")
    for result in found.results:
        console.print(estimated(result))
        for line in result.lines():
            console.print(line, markup=False)
        console.print(result.sentence, markup=False)
        if result.amplified:
            console.print(
                f"Shuffled with the others: epsilon {result.loss.epsilon(DELTA):.3g} at delta "
                f"{DELTA:g} for whoever sees only what the shuffler passes on."
            )
        console.print()
    for pair in found.pairs:
        console.print(crossed(pair))
    if found.anchor:
        console.print(found.anchor, markup=False)
    console.print(
        f"What one person sent costs at most epsilon {found.loss.epsilon():.4g}. "
        "Reading it costs nothing more."
    )
    if found.collected != found.loss:
        console.print(
            f"Shuffled, all of it costs at most epsilon {found.collected.epsilon(DELTA):.3g} "
            f"at delta {DELTA:g}."
        )
    if pictures is not None:
        draw(found, pictures)


COLUMNS = (
    "People: all whom the survey must ask, whatever the true share. Directly: those whom this "
    "question alone would take without coins. Effect: what coins cost at the expected share "
    "(one in ten if none is given; for numbers, at worst), so not the ratio of the two."
)


def planned(found: "SurveyPlan", margin: str, people: int | None) -> "Table":
    """A line a question."""
    headings = ["question", "epsilon", f"people for ± {margin}", "directly", "effect"]
    table = lines(*headings, *([f"± with {people:,}", "power"] if people else []))
    for one in found.lines:
        bought = [] if one.margin is None else [f"{one.margin:.3f}", power(one.power)]
        numbers = f"{one.epsilon:.3g}", f"{one.people:,}", f"{one.direct:,}"
        table.add_row(one.question, *numbers, f"{one.design_effect:.1f} x", *bought)
    return table


def power(chance: float | None) -> str:
    """How likely a share is told from 0; a mean has none."""
    return "-" if chance is None else percent(chance)


def estimated(result: "QuestionResult") -> "Table":
    """A line an answer."""
    table = lines(result.text, "estimate", f"{result.estimates[0].confidence:.0%} interval", "")
    for place, (label, one) in enumerate(zip(result.labels, result.estimates, strict=True)):
        show = (lambda x: f"{x:.3g}") if place == result.mean else percent
        interval = " to ".join(show(end) for end in one.interval) if one.consistent else "-"
        note = "" if one.consistent else f"inconsistent with the design (p {one.p_value:.2g})"
        if one.consistent and one.raw != one.value:
            note = f"cut from {show(one.raw)}"
        table.add_row(label, show(one.value), interval, note)
    return table


def crossed(pair: "QuestionPair") -> "Table":
    """Two questions, with the test of their independence."""
    from deniable.errors import InvalidData

    try:
        ending = f"chi-square p-value {pair.table.independence().p_value:.2g}"
    except InvalidData:
        ending = "too few reports for a test"
    table = lines(f"{pair.rows} by {pair.columns}", *pair.column_labels)
    errors = pair.table.standard_error
    for label, row, error in zip(pair.row_labels, pair.table.raw, errors, strict=True):
        cells = [f"{percent(x)} ± {percent(1.96 * e)}" for x, e in zip(row, error, strict=True)]
        table.add_row(label, *cells)
    means = [f"{label}: {one.value:.4g} ± {one.margin:.2g}" for label, one in pair.means()]
    table.caption = "\n".join(
        [ending, *([f"mean by answer: {', '.join(means)}"] if means else [])]
    )
    return table


def draw(found: "SurveyReport", folder: Path) -> None:
    """A picture a question."""
    from deniable.figures import canvas, surveys

    folder.mkdir(parents=True, exist_ok=True)
    for result in found.results:
        print(canvas.save(surveys.estimates(result), folder / f"{result.question}.svg"))


def lines(*headings: str) -> "Table":
    """A table with few lines."""
    from rich import box
    from rich.table import Table

    return Table(*headings, box=box.SIMPLE_HEAD, pad_edge=False)
