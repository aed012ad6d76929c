"""`deniable profile`: a first look at a table, for one stated price."""

from pathlib import Path
from typing import Annotated

import typer

from deniable.app.cli import session_options
from deniable.app.cli.commands.odds import number


def profile(
    table: Annotated[
        str | None, typer.Argument(help="The table; not needed where there is one only.")
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="What the whole look costs.", metavar="EPSILON")
    ] = "1",
    delta: session_options.Delta = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="Write a page of HTML, too.", metavar="FILE")
    ] = None,
) -> None:
    """Show a table at first sight: missing values, quantiles, histograms, frequent values.

    The price is split evenly over the columns, and is all that is spent.
    """
    with session_options.session(policy, "profiling", analyst) as session:
        found = session.profile(
            table,
            epsilon=number(epsilon, "epsilon"),
            delta=None if delta is None else number(delta, "delta"),
            confidence=number(confidence, "confidence"),
        )
    print(found)
    if page is not None:
        found.save(str(page))
        print(f"The page is in {page}.")
