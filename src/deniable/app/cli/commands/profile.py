"""`deniable profile`: a first look at a table, at one stated price."""

from pathlib import Path
from typing import Annotated

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal


def profile(
    table: Annotated[
        str | None, typer.Argument(help="The table; not needed if the policy has only one.")
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="The price of the whole profile.", metavar="EPSILON")
    ] = "1",
    delta: session_options.Delta = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    server: session_options.Server = None,
    server_key: session_options.ServerKey = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Also write an HTML page.", metavar="FILE")
    ] = None,
) -> None:
    """Take a first look at a table: missing values, quantiles, histograms, frequent values.

    The price is split evenly over the columns. Nothing more is spent.
    """
    with session_options.open_session(
        policy, "profiling", analyst, server, server_key
    ) as session:
        result = session.profile(
            table,
            epsilon=parse_decimal(epsilon, "epsilon"),
            delta=None if delta is None else parse_decimal(delta, "delta"),
            confidence=parse_decimal(confidence, "confidence"),
        )
    print(result)
    if page is not None:
        result.save(str(page))
        print(f"The page is in {page}.")
