"""`deniable demo`: questions to a made-up hospital, and a survey of made-up athletes."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.number_format import factor_up, percent

if TYPE_CHECKING:
    from rich.console import Console

    from deniable.privacy import Loss
    from deniable.release import Release, Session

VISITS = 300_000
BUDGET = 3
QUESTIONS = {
    "How busy and how costly is each ward?": (
        "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost\n"
        "FROM visits GROUP BY ward ORDER BY visits DESC"
    ),
    "Which diagnoses are there? Nobody lists them in advance.": (
        "SELECT diagnosis, COUNT(DISTINCT patient) AS patients\n"
        "FROM visits GROUP BY diagnosis ORDER BY patients DESC"
    ),
    "What do the over-65s cost?": (
        "SELECT COUNT(*) AS visits, AVG(cost) AS mean, STDDEV(cost) AS spread\n"
        "FROM visits WHERE age >= 65"
    ),
}
EACH = 0.5
ATHLETES = 10_000
DOPING = 1_200  # made up


def demo(
    picture: Annotated[
        Path, typer.Option(help="Where the picture goes, .png or .svg.", metavar="FILE")
    ] = Path("deniable-demo.png"),
) -> None:
    """Ask a made-up hospital three questions in SQL, and made-up athletes a shameful one."""
    from rich.console import Console

    from deniable.privacy.losses.hypothesis_testing import odds_factor

    console = Console(highlight=False)
    answers = hospital(console)
    console.print(drawn(answers[0], picture), soft_wrap=True)
    asked = survey(console)
    console.print("[bold]What was protected[/bold]")
    whole = dp.PureLoss(sum(answer.plan.epsilon for answer in answers))
    console.print(
        "Each patient, with all visits: what was told multiplies anyone's odds about them by "
        f"at most {factor_up(odds_factor(whole))}, but for a chance of one in a hundred million"
        ". Each athlete: by at most "
        f"{factor_up(odds_factor(asked))}. What such odds mean: [bold]deniable odds "
        f"{whole.epsilon():g}[/bold]\n"
    )


def hospital(console: "Console") -> "list[Release]":
    """Three questions about made-up visits in a DuckDB file, each with its price."""
    from deniable.engines.duckdb.example_hospital import write_hospital as make

    console.print(f"\n[bold]1. Questions to a hospital with {VISITS:,} visits[/bold]")
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "hospital.duckdb")
        with console.status("making up visits"):
            make(path, VISITS)
        with opened(path) as session:
            console.print(
                "They lie in a DuckDB file, made up. One person is all visits of one patient. "
                f"The budget is epsilon {BUDGET}; each question costs {EACH}.\n"
            )
            return [
                asked(console, session, title, sql, path) for title, sql in QUESTIONS.items()
            ]


def opened(path: str) -> "Session":
    """The session of the demonstration: what the hospital declares as public."""
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


def asked(console: "Console", session: "Session", title: str, sql: str, path: str) -> "Release":
    """One question, its private answer, and how the truth compares."""
    from deniable.engines.duckdb.example_hospital import exact_answer

    console.print(f"[bold]{title}[/bold]\n{sql}\n", soft_wrap=True)
    with console.status("asking"):
        answer = session.sql(sql, epsilon=EACH)
        exact = exact_answer(path, sql)
    console.print(str(answer), soft_wrap=True)
    console.print(f"[dim]{compared(answer, exact)}[/dim]\n")
    return answer


def compared(answer: "Release", exact: list[dict[str, object]]) -> str:
    """How many margins hold the truth, which is known because all of this is made up."""
    keys = [name for name in answer.columns if name not in answer.answer.margins]
    known = {tuple(row[key] for key in keys): row for row in exact}
    inside = total = 0
    for row in answer.to_arrow().to_pylist():
        true = known[tuple(row[key] for key in keys)]
        for name, beside in answer.answer.margins.items():
            total += 1
            inside += abs(row[name] - true[name]) <= row[beside]
    hidden = len(exact) - len(answer)
    also = f"; {hidden} rare groups of the exact one are hidden" if hidden else ""
    return f"The exact answer lies within {inside} of {total} margins{also}."


def drawn(answer: "Release", picture: Path) -> str:
    """Where the picture of an answer is, or what it needs."""
    try:
        from deniable.figures.canvas import save

        figure = answer.plot("mean_cost")
    except ImportError as missing:  # the message says how to add it
        return f"No picture: {missing}\n"
    picture.parent.mkdir(parents=True, exist_ok=True)
    return (
        f"The mean cost of each ward, with its margins, is drawn in {save(figure, picture)}\n"
    )


def survey(console: "Console") -> "Loss":
    """Ask everybody, with two coins each; what the coins cost."""
    coins = dp.RandomizedResponse.from_coins()
    reports = coins.randomize([athlete < DOPING for athlete in range(ATHLETES)])
    estimate = coins.estimate(reports, confidence=0.95)
    console.print('[bold]2. A shameful question: "Do you dope?"[/bold]')
    console.print(
        f"{ATHLETES:,} athletes flip a coin in secret: on heads they tell the truth, on tails "
        'a second coin answers. Nobody\'s "yes" is proof. '
        f'Said "yes": {percent(sum(map(bool, reports)) / ATHLETES)}. Dope, by estimate: '
        f"[bold]{percent(estimate.value)} ± {percent(estimate.margin)}[/bold]. "
        f"In truth (made up): {percent(DOPING / ATHLETES)}.\n"
    )
    return coins.loss
