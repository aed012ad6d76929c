"""The attack that recovers secrets from exact counts, and fails against private ones."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import deniable as dp

if TYPE_CHECKING:
    from rich.console import Console

PEOPLE = 100
COUNTS = 64


def attack_staff(console: "Console") -> None:
    """Attacks counts about made-up members of staff, exact ones and private ones."""
    console.print("\n[bold]5. Why all this? An attack on harmless counts[/bold]")
    chance = np.random.default_rng(64)
    staff = pa.table({"id": range(PEOPLE), "ill": chance.integers(0, 2, PEOPLE) == 1})
    finding = dp.audit.attack.questions(
        staff, write_counts(chance), secret="ill", epsilon=1, table="staff"
    )
    console.print(
        f"Somebody asks {COUNTS} counts of ill members of staff, each about many people, and "
        f"puts them together. {finding.sentence}",
        soft_wrap=True,
    )


def write_counts(chance: np.random.Generator) -> list[str]:
    """Counts of overlapping groups, as a dashboard with filters would ask them."""
    questions = []
    for _ in range(COUNTS):
        low, high = sorted(chance.integers(0, PEOPLE + 1, 2).tolist())
        parts = int(chance.integers(2, 7))
        part = int(chance.integers(0, parts))
        questions.append(
            "SELECT COUNT(*) AS n FROM staff WHERE ill "
            f"AND id >= {low} AND id < {high} AND id % {parts} = {part}"
        )
    return questions
