"""`deniable sql`: a private answer to a question in SQL."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

import deniable as dp
from deniable.app.cli import session_options

if TYPE_CHECKING:
    from deniable.release import Release


def sql(
    question: session_options.Question,
    epsilon: session_options.Epsilon = None,
    margin: session_options.Margin = None,
    relative: session_options.Relative = None,
    of: session_options.Of = None,
    find_bounds: session_options.FindBounds = False,
    delta: session_options.Delta = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    nonnegative: session_options.Nonnegative = False,
    other: session_options.Other = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Answer in CSV.")] = False,
    analyst: session_options.Analyst = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Pay for new noise, though it was asked before.")
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the release with its certificate, too.", metavar="FILE"),
    ] = None,
) -> None:
    """Answer a question privately: each number with its margin, the cost and what is left.

    What it costs is written to the policy's ledger before a row is read. A question that was
    asked before gets its old answer again, at no cost.
    """
    if as_json and as_csv:
        raise dp.InvalidParameter("Choose one of --json and --csv.")
    session_options.writable(certificate)
    wishes = session_options.wishes(
        epsilon=epsilon,
        margin=margin,
        relative=relative,
        of=of,
        find=find_bounds,
        delta=delta,
        confidence=confidence,
        nonnegative=nonnegative,
        other=other,
    )
    session_options.check_price(question, wishes)
    with session_options.session(policy, "asking", analyst) as session:
        answer = session.sql(question, fresh=fresh, **wishes)
    if certificate is not None:
        answer.save(certificate)
    if as_json:
        print(answer.to_json())
    elif as_csv:
        write_csv(answer, sys.stdout)
        print(str(answer).rpartition("\n\n")[2], file=sys.stderr)
    else:
        print(answer)


def write_csv(answer: "Release", file: TextIO) -> None:
    """Rows with their margins beside the numbers."""
    import csv

    table = answer.to_arrow()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
