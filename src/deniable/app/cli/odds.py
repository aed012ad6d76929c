"""`deniable odds`: what an epsilon means, in odds and in people."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.wording import factor_up, people_up, percent_up

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.privacy import Loss

GUESSES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
MOST = 1000


def odds(
    epsilon: Annotated[
        str | None,
        typer.Argument(help="The privacy loss, for example 1.1.", metavar="EPSILON"),
    ] = None,
    factor: Annotated[
        str | None,
        typer.Option("--odds", help="Or e^epsilon: 3 is two coins.", metavar="FACTOR"),
    ] = None,
    delta: Annotated[
        str, typer.Option(help="The chance of telling all.", metavar="CHANCE")
    ] = "0",
) -> None:
    """Say what an epsilon means: how far a guess about one person can move.

    Upper bounds are rounded up, so that nothing reads better than it is.
    """
    loss = described(epsilon, factor, number(delta, "delta"))

    from rich.console import Console

    from deniable.privacy.reading import accuracy, odds_factor

    console = Console(highlight=False)
    named = f"epsilon {epsilon}" if factor is None else f"odds {factor}"
    times = factor_up(odds_factor(loss, delta=loss.slack))
    if loss.slack:
        console.print(
            f"\n[bold]{named}, delta {delta}[/bold]: nobody learns more than from a design "
            f"that tells all with probability {delta} and otherwise multiplies anyone's odds "
            f"about one person by at most [bold]{times}[/bold], so that\n"
        )
    else:
        console.print(
            f"\n[bold]{named}[/bold]: what is published multiplies anyone's odds about one "
            f"person by at most [bold]{times}[/bold], so that\n"
        )
    console.print(guesses(loss))
    console.print(
        "\nWhoever must tell two equally likely cases apart (is she in the data or not?) is "
        f"right at most [bold]{percent_up(accuracy(loss))}[/bold] of the time; "
        "a coin is right 50 % of the time.\n"
    )


def guesses(loss: "Loss") -> "Table":
    """The ceiling of a small, a middling and an even guess."""
    from rich import box
    from rich.table import Table

    from deniable.privacy.reading import posterior

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("a guess of", justify="right")
    table.add_column("can become at most", justify="right")
    table.add_column("in people", justify="left")
    for guess in GUESSES:
        ceiling = posterior(loss, guess, delta=loss.slack)
        people = f"{people_up(guess)} to at most {people_up(ceiling)}"
        table.add_row(f"{float(100 * guess):g} %", percent_up(ceiling), people)
    return table


def described(epsilon: str | None, factor: str | None, delta: Decimal) -> "Loss":
    """The loss that the words on the command line stand for."""
    if (epsilon is None) == (factor is None):
        raise dp.InvalidParameter(
            "Name one loss: an epsilon, as in `deniable odds 1.1`, or its odds, as in "
            "`deniable odds --odds 3`."
        )
    exact = None if epsilon is None else number(epsilon, "epsilon")
    if exact is not None and exact > MOST:
        raise dp.InvalidParameter(
            f"`epsilon` above {MOST} protects nothing: any guess can become certain. "
            f"Found {epsilon}; most releases stay below 10."
        )
    odds = None if factor is None else number(factor, "odds")
    return dp.ApproximateLoss(exact, delta, odds=odds)


def number(text: str, name: str) -> Decimal:
    """A decimal of a sensible size; the loss itself judges whether it can be used."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise dp.InvalidParameter(
            f"`{name}` must be a number, such as 1.1. Found {text!r}."
        ) from None
    if not value.is_finite():
        raise dp.InvalidParameter(f"`{name}` must be finite. Found {text}.")
    if value and abs(value.adjusted()) > MOST:
        raise dp.InvalidParameter(f"`{name}` is out of any useful range. Found {text}.")
    return value
