"""`deniable plot`: pictures of what releases cost, as SVG or PNG."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.argument_values import parse_decimal

if TYPE_CHECKING:
    from deniable.privacy import Loss

plot = typer.Typer(
    help="Draw what releases cost: trade-offs, delta over epsilon, growth with each release.",
    no_args_is_help=True,
    context_settings={"ignore_unknown_options": True},
)

Epsilons = Annotated[
    list[str] | None,
    typer.Option("--epsilon", help="A pure loss; may be repeated.", metavar="EPSILON"),
]
Mus = Annotated[
    list[str] | None,
    typer.Option("--mu", help="A Gaussian loss; may be repeated.", metavar="MU"),
]
Out = Annotated[Path, typer.Option(help="The file to write, .svg or .png.", metavar="FILE")]
Count = Annotated[int, typer.Option(help="The number of such releases.", metavar="N")]
Delta = Annotated[str, typer.Option(help="The delta of the epsilons shown.", metavar="DELTA")]


@plot.command()
def tradeoff(out: Out, epsilon: Epsilons = None, mu: Mus = None, count: Count = 1) -> None:
    """Draw how well anyone can detect whether a person is in the data."""
    by_name = read_losses(epsilon, mu, count)
    from deniable.figures import canvas, losses

    print(canvas.save(losses.tradeoff(by_name), out))


@plot.command()
def deltas(out: Out, epsilon: Epsilons = None, mu: Mus = None, count: Count = 1) -> None:
    """Draw the smallest delta at every epsilon."""
    by_name = read_losses(epsilon, mu, count)
    from deniable.figures import canvas, losses

    print(canvas.save(losses.deltas(by_name), out))


@plot.command()
def growth(
    out: Out,
    epsilon: Epsilons = None,
    mu: Mus = None,
    count: Annotated[
        int, typer.Option(help="The largest number of releases.", metavar="N")
    ] = 100,
    delta: Delta = "1e-6",
) -> None:
    """Draw what 1, 2, ... up to `count` releases cost together."""
    by_name = read_losses(epsilon, mu, 1)
    exact = parse_decimal(delta, "delta")
    from deniable.figures import canvas, losses

    counts = [n for n in STEPS if n < count] + [count]
    print(canvas.save(losses.growth(by_name, delta=exact, counts=counts), out))


STEPS = tuple(lead * 10**power for power in range(7) for lead in (1, 2, 5))


def read_losses(
    epsilons: list[str] | None, mus: list[str] | None, count: int
) -> "Mapping[str, Loss]":
    """The losses that the options describe, under the names that the legend shows."""
    times = f"{count} x " if count > 1 else ""
    pure = {
        f"{times}epsilon {e}": dp.PureLoss(parse_decimal(e, "epsilon")) for e in epsilons or ()
    }
    gaussian = {f"{times}mu {m}": dp.GaussianLoss(parse_decimal(m, "mu")) for m in mus or ()}
    losses: dict[str, Loss] = {**pure, **gaussian}
    if not losses:
        raise dp.InvalidParameter(
            "Name at least one loss: --epsilon 1 for a pure loss, --mu 1 for a Gaussian loss."
        )
    return {name: loss if count == 1 else loss * count for name, loss in losses.items()}
