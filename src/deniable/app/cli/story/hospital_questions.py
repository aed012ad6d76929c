"""Questions to a made-up hospital: the price first, the answer, refusals, the certificate."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import deniable as dp
from deniable.engines.duckdb.example_hospital import WARDS, exact_answer, write_hospital

if TYPE_CHECKING:
    from rich.console import Console

VISITS = 300_000
BUDGET = 4
PRICE = 0.5
BY_WARD = (
    "SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost\n"
    "FROM visits GROUP BY ward ORDER BY visits DESC"
)
BY_DIAGNOSIS = (
    "SELECT diagnosis, COUNT(DISTINCT patient) AS patients\n"
    "FROM visits GROUP BY diagnosis ORDER BY patients DESC"
)
ROWS = "SELECT patient, cost FROM visits"
TOTAL = "SELECT SUM(cost) AS total FROM visits"


def open_hospital(folder: Path) -> dp.Session:
    """A session about made-up visits, with what the hospital declares as public."""
    path = str(folder / "hospital.duckdb")
    write_hospital(path, VISITS)
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


def ask_hospital(console: "Console", session: dp.Session, folder: Path) -> "list[dp.Release]":
    """Explains, asks, is refused, and checks the certificate of an answer."""
    path = str(folder / "hospital.duckdb")
    console.print(
        f"\n[bold]1. A hospital with {VISITS:,} visits[/bold]\nThe visits are made up. The "
        "privacy unit is the patient, with all visits. The budget of the table is epsilon "
        f"{BUDGET}. What would this question cost? Nothing is spent, and no row is read:\n"
    )
    console.print(f"{BY_WARD}\n\n{session.explain(BY_WARD, epsilon=PRICE)}\n", soft_wrap=True)
    wards = session.sql(BY_WARD, epsilon=PRICE)
    console.print(f"[bold]The answer[/bold]\n{wards}", soft_wrap=True)
    console.print(f"{tell_interval(wards)} {compare(wards, exact_answer(path, BY_WARD))}\n")
    diagnoses = session.sql(BY_DIAGNOSIS, epsilon=PRICE)
    console.print("[bold]Which diagnoses are there? They are not listed in advance.[/bold]")
    console.print(f"{BY_DIAGNOSIS}\n\n{diagnoses}", soft_wrap=True)
    console.print(f"{compare(diagnoses, exact_answer(path, BY_DIAGNOSIS))}\n")
    console.print("[bold]What is refused[/bold], before anything is spent:")
    for sql, price in ((ROWS, PRICE), (TOTAL, BUDGET)):
        console.print(refuse(session, sql, price), soft_wrap=True)
    wards.save(folder / "answer.json")
    document = (folder / "answer.json").read_text(encoding="utf-8")
    checked = dp.verify(document, key=session.ledger.public_key)
    console.print("\n[bold]The certificate[/bold] of the first answer, as anyone can check it:")
    console.print("\n".join(f"  ✓ {line}" for line in checked.checks), soft_wrap=True)
    return [wards, diagnoses]


def refuse(session: dp.Session, sql: str, price: float) -> str:
    """The error of a question that must be refused."""
    try:
        session.plan(sql, epsilon=price)
        session.sql(sql, epsilon=price)
    except (dp.InvalidQuery, dp.BudgetExhausted) as refusal:
        question = " ".join(sql.split())
        return f"  {question} --epsilon {price}\n  {type(refusal).__name__}: {refusal}"
    raise AssertionError(sql)


def tell_interval(answer: dp.Release) -> str:
    """The first number with its low and high end."""
    first: dict[str, Any] = answer.to_arrow().to_pylist()[0]
    return (
        f"The mean cost in {first['ward']} lies between {first['mean_cost_low']:,.1f} and "
        f"{first['mean_cost_high']:,.1f}, with 95 % confidence."
    )


def compare(answer: dp.Release, exact: list[dict[str, object]]) -> str:
    """How many margins hold the truth. It is known because the data are made up."""
    keys = [name for name in answer.columns if name not in answer.answer.margins]
    exact_rows: dict[tuple[object, ...], Any] = {
        tuple(row[key] for key in keys): row for row in exact
    }
    inside = total = 0
    for row in answer.to_arrow().to_pylist():
        true = exact_rows[tuple(row[key] for key in keys)]
        for name, margin in answer.answer.margins.items():
            total += 1
            inside += abs(row[name] - true[name]) <= row[margin]
    hidden = len(exact) - len(answer)
    also = f"; {hidden} rare groups of the exact answer are hidden" if hidden else ""
    return f"The exact answer lies within {inside} of {total} margins{also}."
