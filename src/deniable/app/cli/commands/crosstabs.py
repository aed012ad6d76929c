"""`deniable crosstabs`: several cross-tables of one table, at one price."""

from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal, parse_values
from deniable.errors import InvalidParameter

Tables = Annotated[
    list[str],
    typer.Argument(
        help="The columns of each cross-table, such as age,sex.",
        metavar="COLUMNS...",
        show_default=False,
    ),
]
Cuts = Annotated[
    list[str] | None,
    typer.Option("--cuts", help="Where intervals begin: age=18,65.", metavar="COLUMN=VALUES"),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Only show what would be measured. Spends nothing.")
]


def crosstabs(
    tables: Tables,
    epsilon: session_options.Epsilon = None,
    table: Annotated[
        str | None, typer.Option(help="The table; not needed if there is only one.")
    ] = None,
    delta: session_options.Delta = None,
    cuts: Cuts = None,
    only_declared: Annotated[
        bool,
        typer.Option("--only-declared", help="Leave out rows with NULL or undeclared values."),
    ] = False,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    analyst: session_options.Analyst = None,
    explain: Explain = False,
    save: Annotated[
        Path | None, typer.Option("--save", help="Also write JSON.", metavar="FILE")
    ] = None,
) -> None:
    """Release several cross-tables that add up to each other, for one price.

    Each cell has its margin. Values that are not declared, and NULL, are a cell of their own.
    """
    if epsilon is None:
        raise InvalidParameter("Give the price of all tables together, such as --epsilon 1.")
    asked = [[name.strip() for name in columns.split(",")] for columns in tables]
    options: dict[str, Any] = {
        "table": table,
        "epsilon": parse_decimal(epsilon, "epsilon"),
        "delta": None if delta is None else parse_decimal(delta, "delta"),
        "cuts": read_cuts(cuts or []),
        "missing": not only_declared,
        "confidence": parse_decimal(confidence, "confidence"),
    }
    session_options.check_writable(save)
    if explain:
        with session_options.open_planner(policy, "planning") as planner:
            print(planner.crosstabs(asked, **options, explain=True))
        return
    with session_options.open_session(policy, "counting", analyst) as session:
        result = session.crosstabs(asked, **options)
    print(result)
    if save is not None:
        result.save(save)


def read_cuts(words: list[str]) -> dict[str, list[Any]]:
    """Words such as age=18,65 as a mapping.

    >>> read_cuts(["age=18,65"])
    {'age': [18, 65]}
    """
    cuts = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not equals:
            raise InvalidParameter(f"Write cuts as COLUMN=VALUES: age=18,65. Found {word!r}.")
        cuts[name.strip()] = parse_values(values)
    return cuts
