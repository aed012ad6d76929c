"""`deniable copy`: a private copy of a table, at one price."""

from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal
from deniable.app.cli.commands.crosstabs import Cuts, Explain, read_cuts
from deniable.errors import InvalidParameter


def copy(
    table: Annotated[
        str | None, typer.Argument(help="The table; not needed if the policy has only one.")
    ] = None,
    epsilon: session_options.Epsilon = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Where to write the rows: .parquet or .csv.", metavar="FILE"
        ),
    ] = None,
    delta: session_options.Delta = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Only these columns: age,sex,income.", metavar="COLUMNS"),
    ] = None,
    cuts: Cuts = None,
    rows: Annotated[
        int | None, typer.Option(help="How many rows; by default about as many as there are.")
    ] = None,
    only_declared: Annotated[
        bool,
        typer.Option("--only-declared", help="Leave out rows with NULL or undeclared values."),
    ] = False,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    explain: Explain = False,
) -> None:
    """Make a private copy of a table: rows that look like its rows, and a scorecard.

    Anyone may have the copy, and questions about it cost nothing.
    """
    if epsilon is None:
        raise InvalidParameter("Give the price of the copy, such as --epsilon 1.")
    options: dict[str, Any] = {
        "epsilon": parse_decimal(epsilon, "epsilon"),
        "delta": None if delta is None else parse_decimal(delta, "delta"),
        "columns": None if columns is None else [name.strip() for name in columns.split(",")],
        "cuts": read_cuts(cuts or []),
        "rows": rows,
        "missing": not only_declared,
        "confidence": parse_decimal(confidence, "confidence"),
    }
    if explain:
        with session_options.open_planner(policy, "planning") as planner:
            print(planner.copy(table, **options, explain=True))
        return
    _check_file(out)
    with session_options.open_session(policy, "copying", analyst) as session:
        result = session.copy(table, **options)
    if out is not None:
        result.save(out)
    print(result)


def _check_file(out: Path | None) -> None:
    """Refuses a file that cannot be written, before anything is spent."""
    from deniable.synth.copies.table_copy import check_format

    if out is None:
        raise InvalidParameter("Say where to write the copy, such as --out copy.parquet.")
    check_format(out)
    session_options.check_writable(out)
