"""`deniable prove`: the exact epsilon of a small program."""

from typing import Annotated

import typer

from deniable.app.cli import argument_values


def prove(
    program: Annotated[
        str, typer.Argument(help="A file and a function in it.", metavar="FILE.py:FUNCTION")
    ],
    domain: Annotated[
        str, typer.Option(help="What one record may be: 0,1.", metavar="VALUES")
    ] = "0,1",
    size: Annotated[
        int | None, typer.Option(help="Records in the list that the program gets.")
    ] = None,
    neighbors: Annotated[
        str | None, typer.Option(help='"add-remove" or "replace"; needs --size.')
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(help="A parameter left open: p=0:1.", metavar="NAME=LOW:HIGH"),
    ] = None,
    odds: Annotated[
        str | None,
        typer.Option(help="Also the exact delta at these odds (e^epsilon).", metavar="FACTOR"),
    ] = None,
    draws: Annotated[int, typer.Option(help="Follow a run for so many draws.")] = 200,
    runs: Annotated[int, typer.Option(help="Follow so many runs for each input.")] = 100_000,
) -> None:
    """Find the exact epsilon of a program, by running it once for every outcome of its coins.

    The program takes the data and draws through `flip(p)`, `uniform(n)` and `choose(weights)`.
    Status 1 means that it is not private at any epsilon.
    """
    from deniable import audit

    found = argument_values.function(program)
    limits = audit.Limits(draws=draws, runs=runs)
    place = {"domain": argument_values.values(domain), "size": size, "neighbors": neighbors}
    if over is not None:
        name, low, high = argument_values.span(over)
        curve = audit.prove(found, **place, over={name: (low, high)}, limits=limits)  # type: ignore[arg-type]
        print(curve)
        raise typer.Exit(0 if curve.private else 1)
    proof = audit.prove(found, **place, limits=limits)  # type: ignore[arg-type]
    print(proof)
    if odds is not None:
        factor = argument_values.fraction(odds, "odds")
        delta = proof.delta(odds=factor)
        print(f"delta at epsilon = ln {factor}: {delta} = {float(delta):.6g}")
    surely = {
        output: proof.feasible(output)
        for output in proof.outputs
        if len(proof.feasible(output)) < len(proof.table)
    }
    for output, inputs in list(surely.items())[:8]:
        print(f"output {output} is possible only for {', '.join(map(str, inputs))}")
    raise typer.Exit(0 if proof.private else 1)
