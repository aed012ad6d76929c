"""`deniable sql`: a private answer to a question in SQL."""

import sys
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

import deniable as dp
from deniable.app.cli import session_options
from deniable.app.cli.terminal_text import write_as_options

if TYPE_CHECKING:
    from deniable.release.session.release import Release


Certificate = Annotated[
    Path | None,
    typer.Option(help="Also write the release with its certificate.", metavar="FILE"),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Pay for new noise, even if asked before.")
]


def sql(
    question: session_options.Question = None,
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
    nulls: session_options.Nulls = False,
    brackets: session_options.Brackets = True,
    as_json: session_options.Json = False,
    as_csv: session_options.Csv = False,
    analyst: session_options.Analyst = None,
    server: session_options.Server = None,
    server_key: session_options.ServerKey = None,
    fresh: Fresh = False,
    certificate: Certificate = None,
    file: session_options.QuestionFile = None,
) -> None:
    """Answer a question privately: each number with its margin, the cost and what is left.

    The cost is written to the policy's ledger before any row is read. A question that was
    asked before gets the same answer again, at no cost.
    """
    check_output(certificate, as_json=as_json, as_csv=as_csv)
    style = {"nonnegative": nonnegative, "other": other, "nulls": nulls, "brackets": brackets}
    options = session_options.ask_options(
        epsilon=epsilon,
        margin=margin,
        relative=relative,
        of=of,
        find=find_bounds,
        delta=delta,
        confidence=confidence,
        **style,
    )
    question = session_options.read_question(question, file, options, free=True)
    with session_options.open_session(policy, "asking", analyst, server, server_key) as session:
        answer = session_options.ask_priced(session.sql, question, options, fresh=fresh)
    print_answer(answer, as_json=as_json, as_csv=as_csv, saved_as=certificate)


def check_output(certificate: Path | None, *, as_json: bool, as_csv: bool) -> None:
    """Refuses what could not be written or printed, before anything is spent."""
    if as_json and as_csv:
        raise dp.InvalidParameter("Choose one of --json and --csv.")
    session_options.check_writable(certificate)


def print_answer(
    answer: "Release", *, as_json: bool, as_csv: bool, saved_as: Path | None = None
) -> None:
    """Prints an answer as JSON, as CSV (with the costs on standard error) or as a table."""
    if saved_as is not None:
        answer.save(saved_as)
    if as_json:
        print(answer.to_json(), end="")
        return
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    table, _, footer = answer.to_text(width).rpartition("\n\n")
    if as_csv:
        write_csv(answer, sys.stdout)
        print(write_as_options(footer), file=sys.stderr)
    else:
        print(table, write_as_options(footer), sep="\n\n")


def write_csv(answer: "Release", file: TextIO) -> None:
    """Writes the rows; each number is followed by its margin."""
    import csv

    table = answer.to_arrow()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
