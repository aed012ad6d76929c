"""`deniable plot`: pictures of what releases cost, as SVG or PNG."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.commands.odds import number

if TYPE_CHECKING:
    from deniable.privacy import Loss

plot = typer.Typer(
    help="Draw what releases cost: trade-offs, delta over epsilon, growth by composing.",
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
Count = Annotated[int, typer.Option(help="How many such releases, together.", metavar="N")]
Delta = Annotated[str, typer.Option(help="At which delta to read.", metavar="DELTA")]


@plot.command()
def tradeoff(out: Out, epsilon: Epsilons = None, mu: Mus = None, count: Count = 1) -> None:
    """Draw how well anyone can tell whether a person is in the data."""
    named = described(epsilon, mu, count)
    from deniable.figures import canvas, losses

    print(canvas.save(losses.tradeoff(named), out))


@plot.command()
def deltas(out: Out, epsilon: Epsilons = None, mu: Mus = None, count: Count = 1) -> None:
    """Draw the least delta at every epsilon."""
    named = described(epsilon, mu, count)
    from deniable.figures import canvas, losses

    print(canvas.save(losses.deltas(named), out))


@plot.command()
def growth(
    out: Out,
    epsilon: Epsilons = None,
    mu: Mus = None,
    count: Annotated[int, typer.Option(help="Up to how many.", metavar="N")] = 100,
    delta: Delta = "1e-6",
) -> None:
    """Draw what one, two, ... up to `count` releases cost together."""
    named = described(epsilon, mu, 1)
    exact = number(delta, "delta")
    from deniable.figures import canvas, losses

    counts = [n for n in STEPS if n < count] + [count]
    print(canvas.save(losses.growth(named, delta=exact, counts=counts), out))


STEPS = tuple(lead * 10**power for power in range(7) for lead in (1, 2, 5))


def described(
    epsilons: list[str] | None, mus: list[str] | None, count: int
) -> "Mapping[str, Loss]":
    """The losses that the words stand for, under the names that the legend shows."""
    times = f"{count} x " if count > 1 else ""
    pure = {f"{times}epsilon {e}": dp.PureLoss(number(e, "epsilon")) for e in epsilons or ()}
    bell = {f"{times}mu {m}": dp.GaussianLoss(number(m, "mu")) for m in mus or ()}
    found: dict[str, Loss] = {**pure, **bell}
    if not found:
        raise dp.InvalidParameter(
            "Name at least one loss: --epsilon 1 for a pure one, --mu 1 for a Gaussian one."
        )
    return {name: loss if count == 1 else loss * count for name, loss in found.items()}
