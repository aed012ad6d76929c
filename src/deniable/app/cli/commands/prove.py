"""`deniable prove`: the exact epsilon of a small program."""

from typing import TYPE_CHECKING, Annotated

import typer

from deniable.app.cli import argument_values

if TYPE_CHECKING:
    from deniable.audit import Proof


Program = Annotated[
    str, typer.Argument(help="A file and a function in it.", metavar="FILE.py:FUNCTION")
]
Domain = Annotated[
    str, typer.Option(help="The values that one record may have: 0,1.", metavar="VALUES")
]
Size = Annotated[
    int | None, typer.Option(help="The number of records in the list that the program gets.")
]
Neighbors = Annotated[str | None, typer.Option(help='"add-remove" or "replace"; needs --size.')]
Over = Annotated[
    str | None,
    typer.Option(
        help="Prove it for all values of a parameter: p=0:1.", metavar="NAME=LOW:HIGH"
    ),
]
Odds = Annotated[
    str | None,
    typer.Option(help="Also show the exact delta at these odds (e^epsilon).", metavar="FACTOR"),
]
Draws = Annotated[int, typer.Option(help="The most random draws in one run.")]
Runs = Annotated[int, typer.Option(help="The most runs for each input.")]


def prove(
    program: Program,
    domain: Domain = "0,1",
    size: Size = None,
    neighbors: Neighbors = None,
    over: Over = None,
    odds: Odds = None,
    draws: Draws = 200,
    runs: Runs = 100_000,
) -> None:
    """Find the exact epsilon of a program, by running it once for every outcome of its coins.

    The program takes the data and draws with `flip(p)`, `uniform(n)` and `choose(weights)`.
    Status 1 means that it is not private at any epsilon.
    """
    from deniable import audit

    function = argument_values.load_function(program)
    limits = audit.Limits(draws=draws, runs=runs)
    values = argument_values.parse_values(domain)
    inputs = {"domain": values, "size": size, "neighbors": neighbors}
    if over is not None:
        name, low, high = argument_values.parse_range(over)
        curve = audit.prove(function, **inputs, over={name: (low, high)}, limits=limits)  # type: ignore[arg-type]
        print(curve)
        raise typer.Exit(0 if curve.private else 1)
    proof = audit.prove(function, **inputs, limits=limits)  # type: ignore[arg-type]
    print(proof)
    if odds is not None:
        factor = argument_values.parse_fraction(odds, "odds")
        delta = proof.delta(odds=factor)
        print(f"delta at epsilon = ln {factor}: {delta} = {float(delta):.6g}")
    print_revealing_outputs(proof)
    raise typer.Exit(0 if proof.private else 1)


def print_revealing_outputs(proof: "Proof") -> None:
    """Prints outputs that are possible for some inputs only, and these inputs."""
    feasible = {output: proof.feasible(output) for output in proof.outputs}
    revealing = [
        (output, inputs)
        for output, inputs in feasible.items()
        if len(inputs) < len(proof.table)
    ]
    for output, inputs in revealing[:8]:
        print(f"output {output} is possible only for {', '.join(map(str, inputs))}")
