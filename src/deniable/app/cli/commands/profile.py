"""`deniable profile` and `deniable limits`: a first look at a table, at one stated price."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal

if TYPE_CHECKING:
    from deniable.release.limits.limits import LimitsReport
    from deniable.release.profile.profile import Profile

TableName = Annotated[
    str | None, typer.Argument(help="The table; not needed if the policy has only one.")
]
Page = Annotated[
    Path | None, typer.Option("--page", help="Also write an HTML page.", metavar="FILE")
]


def profile(
    table: TableName = None,
    epsilon: Annotated[
        str, typer.Option(help="The price of the whole profile.", metavar="EPSILON")
    ] = "1",
    delta: session_options.Delta = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    server: session_options.Server = None,
    server_key: session_options.ServerKey = None,
    page: Page = None,
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
    _save(result, page)


def limits(
    table: TableName = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", help="A column that questions group by.", metavar="COLUMN"),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="The price of the measurement.", metavar="EPSILON")
    ] = "0.1",
    max_groups: Annotated[
        int | None, typer.Option(help="The cap of groups.", metavar="GROUPS")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(help="The cap of rows in a group.", metavar="ROWS")
    ] = None,
    answer_epsilon: Annotated[
        str, typer.Option(help="The epsilon at which margins are shown.", metavar="EPSILON")
    ] = "1",
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    server: session_options.Server = None,
    server_key: session_options.ServerKey = None,
    as_json: session_options.Json = False,
    page: Page = None,
) -> None:
    """Measure what limits on one person's groups and rows leave out, and recommend some.

    Two noisy histograms, up to the caps, are charged once. The same command again is free.
    """
    session_options.check_writable(page)
    with session_options.open_session(
        policy, "measuring", analyst, server, server_key
    ) as session:
        result = session.limits(
            table,
            by=by or None,
            epsilon=parse_decimal(epsilon, "epsilon"),
            max_groups=max_groups,
            max_rows=max_rows,
            answer_epsilon=parse_decimal(answer_epsilon, "answer-epsilon"),
            confidence=parse_decimal(confidence, "confidence"),
        )
    print(json.dumps(result.to_dict()) if as_json else result)
    _save(result, page, quiet=as_json)


def _save(result: "Profile | LimitsReport", page: Path | None, *, quiet: bool = False) -> None:
    """Writes the page, if one is asked for."""
    if page is not None:
        result.save(str(page))
        if not quiet:
            print(f"The page is in {page}.")
