"""`deniable audit`: look for an event that violates a mechanism's claim."""

from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli import argument_values


def audit(
    mechanism: Annotated[
        str, typer.Argument(help="A file and a function in it.", metavar="FILE.py:FUNCTION")
    ],
    neighbors: Annotated[
        str, typer.Option(help="Two or more neighbouring inputs: 0,1.", metavar="INPUTS")
    ] = "0,1",
    epsilon: Annotated[str, typer.Option(help="The claimed epsilon.")] = "1",
    delta: Annotated[str, typer.Option(help="The claimed delta.")] = "0",
    calls: Annotated[int, typer.Option(help="The most calls of the mechanism.")] = 1_000_000,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after this time and report the findings.")
    ] = None,
    error: Annotated[
        str, typer.Option(help="The largest probability of a false accusation.")
    ] = "0.001",
) -> None:
    """Call a mechanism many times and look for an event that its claim does not allow.

    The mechanism is a function of the data. If it has an attribute `many(data, n)`, that is
    called for n outputs at once. Status 1 means that the claim is violated. Status 0 does not
    mean that the claim is true.
    """
    claim = dp.ApproximateLoss(
        argument_values.parse_fraction(epsilon, "epsilon"),
        argument_values.parse_fraction(delta, "delta"),
    )
    verdict = dp.audit.test(
        argument_values.load_function(mechanism),
        [argument_values.parse_values(neighbors)],
        claim if claim.slack else dp.PureLoss.of(claim.exact_epsilon),
        calls=calls,
        seconds=seconds,
        error=argument_values.parse_fraction(error, "error"),
    )
    print(verdict)
    raise typer.Exit(1 if verdict.violated else 0)
