"""`deniable audit`: look for an event that gives a mechanism away."""

from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli import argument_values


def audit(
    mechanism: Annotated[
        str, typer.Argument(help="A file and a function in it.", metavar="FILE.py:FUNCTION")
    ],
    neighbors: Annotated[
        str, typer.Option(help="Two neighbouring inputs, or more: 0,1.", metavar="INPUTS")
    ] = "0,1",
    epsilon: Annotated[str, typer.Option(help="The epsilon that is claimed.")] = "1",
    delta: Annotated[str, typer.Option(help="The delta that is claimed.")] = "0",
    calls: Annotated[int, typer.Option(help="Call it so often at most.")] = 1_000_000,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds, with what was found.")
    ] = None,
    error: Annotated[
        str, typer.Option(help="The chance of accusing a private mechanism, at most.")
    ] = "0.001",
) -> None:
    """Call a mechanism many times and look for an event that its claim does not allow.

    The mechanism is a function of the data; `many(data, n)` on it is used if there is one.
    Status 1 means that the claim is violated. Status 0 never means that it is true.
    """
    claim = dp.ApproximateLoss(
        argument_values.fraction(epsilon, "epsilon"), argument_values.fraction(delta, "delta")
    )
    verdict = dp.audit.test(
        argument_values.function(mechanism),
        [argument_values.values(neighbors)],
        claim if claim.slack else dp.PureLoss.of(claim.nats),
        calls=calls,
        seconds=seconds,
        error=argument_values.fraction(error, "error"),
    )
    print(verdict)
    raise typer.Exit(1 if verdict.violated else 0)
