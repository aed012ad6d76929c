"""A private copy with its scorecard, and a private model beside the same one without noise."""

from typing import TYPE_CHECKING, Any

import numpy as np

import deniable as dp
from deniable.engines.duckdb.example_hospital import WARDS

if TYPE_CHECKING:
    from rich.console import Console

COPY_PRICE = 1
MODEL_PRICE = 1
NO_NOISE = 10**6  # an epsilon at which noise is 0 except with probability exp(-a million)
HIGH_COST = 900
TRAINED, TESTED = 20_000, 5_000


def copy_hospital(console: "Console", session: dp.Session) -> None:
    """Makes a copy of three columns, and prints what it says about itself."""
    console.print("\n[bold]3. A copy that anyone may have[/bold]")
    copy = session.copy(epsilon=COPY_PRICE, method="mst", columns=["ward", "age", "cost"])
    console.print(str(copy), soft_wrap=True)
    question = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"
    rows = "; ".join(
        f"{row['ward']} {row['visits']:,} (the table: {row['visits_low']:,.0f} to "
        f"{row['visits_high']:,.0f})"
        for row in copy.sql(question).to_pylist()[:2]
    )
    console.print(
        f"Questions to the copy are free, for example visits: {rows}.", soft_wrap=True
    )


def train_model(console: "Console", session: dp.Session, path: str) -> None:
    """Trains a model twice, and scores both on other made-up rows."""
    console.print("\n[bold]4. A private model: will this visit cost more than usual?[/bold]")
    X, y = read_rows(path)
    train, test = slice(0, TRAINED), slice(TRAINED, TRAINED + TESTED)
    shares = {}
    for name, epsilon in (("private", MODEL_PRICE), ("the same without noise", NO_NOISE)):
        model = dp.learn.NaiveBayes(
            epsilon=epsilon,
            bounds={"x0": (0, 110), "x1": (0, len(WARDS))},
            classes=[0, 1],
            expected_rows=TRAINED,
        )
        model.fit(X[train], y[train])
        shares[name] = float(np.mean(model.predict(X[test]) == y[test]))
    guess = max(np.mean(y[test]), 1 - np.mean(y[test]))
    summary = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    console.print(
        f"From age and ward, trained on one visit of {TRAINED:,} patients at epsilon "
        f"{MODEL_PRICE}. Right on {TESTED:,} others: {summary}; always guessing the more "
        f"frequent class {guess:.1%}."
    )


def read_rows(path: str) -> tuple[Any, Any]:
    """Age and ward of made-up visits, and whether they cost more than usual.

    One visit of each patient, so that a row is all that the model learns about a patient."""
    from deniable.engines.duckdb.example_hospital import exact_answer

    wards = {ward: place for place, ward in enumerate(WARDS)}
    one_each = "QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER BY hash(cost, age)) = 1"
    chosen = f"{one_each} ORDER BY hash(patient) LIMIT {TRAINED + TESTED}"
    rows = exact_answer(path, f"SELECT age, ward, cost FROM visits {chosen}")
    X = np.array([(row["age"], wards[str(row["ward"])] + 0.5) for row in rows], dtype=float)
    y = np.array([float(str(row["cost"])) > HIGH_COST for row in rows], dtype=int)
    return X, y
