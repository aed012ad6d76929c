"""`deniable kernel`: what the kernel derives from the SQL of a plan, offline."""

from pathlib import Path
from typing import Annotated

import typer

from deniable.app.cli.commands.ledger import read_bytes

PlanFile = Annotated[
    Path,
    typer.Argument(help="A release, a certificate, or a plan of `explain`.", metavar="PLAN"),
]


def kernel(plan: PlanFile) -> None:
    """Derive again, from a plan's SQL alone, how far one privacy unit moves each number.

    Needs no data and no planner. Exit status 0: the kernel agrees with what the plan declares.
    2: it does not.
    """
    from deniable.release.certificate.kernel_check import read_plan_check

    check = read_plan_check(read_bytes(plan))
    for part in check.verdict.parts:
        print(f"✓ {part.about}: L1 {part.l1:,}, squared L2 {part.l2_squared:,}")
    print(f"Derived: {check.describe()}, at a loss of {check.verdict.loss!r}.")
