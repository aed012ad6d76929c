"""`deniable demo`: questions to a made-up hospital, and a survey of made-up athletes."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp

if TYPE_CHECKING:
    from rich.console import Console

    from deniable.privacy import Loss
    from deniable.release.public_session import Session
    from deniable.release.session.release import Release

VISITS = 300_000
BUDGET = 3
QUESTIONS = {
    "How busy and how costly is each ward?": (
        "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost\n"
        "FROM visits GROUP BY ward ORDER BY visits DESC"
    ),
    "Which diagnoses are there? They are not listed in advance.": (
        "SELECT diagnosis, COUNT(DISTINCT patient) AS patients\n"
        "FROM visits GROUP BY diagnosis ORDER BY patients DESC"
    ),
    "What do patients over 65 cost?": (
        "SELECT COUNT(*) AS visits, AVG(cost) AS mean, STDDEV(cost) AS spread\n"
        "FROM visits WHERE age >= 65"
    ),
}
PRICE = 0.5
ATHLETES = 10_000
DOPING = 1_200  # made up


def demo(
    picture: Annotated[
        Path, typer.Option(help="The file of the picture, .png or .svg.", metavar="FILE")
    ] = Path("deniable-demo.png"),
) -> None:
    """Ask a made-up hospital three questions in SQL, and made-up athletes a shameful one."""
    from rich.console import Console

    from deniable.exact.text_formats import factor_up
    from deniable.privacy.losses.hypothesis_testing import odds_factor

    console = Console(highlight=False)
    answers = ask_hospital(console)
    console.print(draw_picture(answers[0], picture), soft_wrap=True)
    survey_loss = ask_athletes(console)
    console.print("[bold]What was protected[/bold]")
    loss = dp.PureLoss(sum(answer.plan.epsilon for answer in answers))
    console.print(
        "Each patient, with all visits: the answers multiply anyone's odds about them by at "
        f"most {factor_up(odds_factor(loss))}, except with a probability of one in a hundred "
        f"million. Each athlete: by at most {factor_up(odds_factor(survey_loss))}. What such "
        f"odds mean: [bold]deniable odds {loss.epsilon():g}[/bold]\n"
    )


def ask_hospital(console: "Console") -> "list[Release]":
    """Asks three questions about made-up visits in a DuckDB file."""
    from deniable.engines.duckdb.example_hospital import write_hospital as make

    console.print(f"\n[bold]1. Questions to a hospital with {VISITS:,} visits[/bold]")
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "hospital.duckdb")
        with console.status("making up visits"):
            make(path, VISITS)
        with open_hospital(path) as session:
            console.print(
                "The visits are made up, in a DuckDB file. The privacy unit is the patient, "
                f"with all visits. The budget is epsilon {BUDGET}; each question costs {PRICE}."
                "\n"
            )
            return [ask(console, session, title, sql, path) for title, sql in QUESTIONS.items()]


def open_hospital(path: str) -> "Session":
    """The session of the demonstration, with what the hospital declares as public."""
    from deniable.engines.duckdb.example_hospital import WARDS

    return dp.protect(
        path,
        name="visits",
        unit="patient",
        max_groups_per_unit=5,
        max_rows_per_unit_per_group=8,
        expected_rows=VISITS,
        bounds={"cost": (0, 3000), "age": (0, 110)},
        step={"cost": 0.01, "age": 1},
        keys={"ward": WARDS, "diagnosis": "private"},
        epsilon=BUDGET,
        delta=1e-6,
    )


def ask(console: "Console", session: "Session", title: str, sql: str, path: str) -> "Release":
    """Asks one question; prints the private answer and how it compares with the truth."""
    from deniable.engines.duckdb.example_hospital import exact_answer

    console.print(f"[bold]{title}[/bold]\n{sql}\n", soft_wrap=True)
    with console.status("asking"):
        answer = session.sql(sql, epsilon=PRICE)
        exact = exact_answer(path, sql)
    console.print(str(answer), soft_wrap=True)
    console.print(f"[dim]{compare_with_truth(answer, exact)}[/dim]\n")
    return answer


def compare_with_truth(answer: "Release", exact: list[dict[str, object]]) -> str:
    """How many margins hold the truth. It is known because the data are made up."""
    keys = [name for name in answer.columns if name not in answer.answer.margins]
    exact_rows = {tuple(row[key] for key in keys): row for row in exact}
    inside = total = 0
    for row in answer.to_arrow().to_pylist():
        true = exact_rows[tuple(row[key] for key in keys)]
        for name, margin in answer.answer.margins.items():
            total += 1
            inside += abs(row[name] - true[name]) <= row[margin]
    hidden = len(exact) - len(answer)
    also = f"; {hidden} rare groups of the exact answer are hidden" if hidden else ""
    return f"The exact answer lies within {inside} of {total} margins{also}."


def draw_picture(answer: "Release", picture: Path) -> str:
    """Draws an answer; says where the picture is, or what is missing to draw it."""
    try:
        from deniable.figures.canvas import save

        figure = answer.plot("mean_cost")
    except ImportError as missing:  # the message says how to add it
        return f"No picture: {missing}\n"
    picture.parent.mkdir(parents=True, exist_ok=True)
    return (
        f"The mean cost of each ward, with its margins, is drawn in {save(figure, picture)}\n"
    )


def ask_athletes(console: "Console") -> "Loss":
    """Asks made-up athletes, with two coins each; returns the loss of the coins."""
    from deniable.exact.text_formats import percent_tenths

    coins = dp.RandomizedResponse.from_coins()
    reports = coins.randomize([athlete < DOPING for athlete in range(ATHLETES)])
    estimate = coins.estimate(reports, confidence=0.95)
    console.print('[bold]2. A shameful question: "Do you dope?"[/bold]')
    console.print(
        f"{ATHLETES:,} athletes flip a coin in secret: on heads they tell the truth, on tails "
        'a second coin answers. No "yes" is proof. '
        f'Said "yes": {percent_tenths(sum(map(bool, reports)) / ATHLETES)}. Dope, by estimate: '
        f"[bold]{percent_tenths(estimate.value)} ± {percent_tenths(estimate.margin)}[/bold]. "
        f"In truth (made up): {percent_tenths(DOPING / ATHLETES)}.\n"
    )
    return coins.loss
