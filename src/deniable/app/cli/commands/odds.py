"""`deniable odds`: what an epsilon means, in odds and in people."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.number_format import factor_up, people_up, percent_up

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.privacy import Loss

GUESSES = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
ALARMS = (Fraction(1, 100), Fraction(5, 100), Fraction(1, 10))
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
    mu: Annotated[
        str | None, typer.Option(help="Or Gaussian noise: sensitivity / sigma.", metavar="MU")
    ] = None,
    rho: Annotated[
        str | None, typer.Option(help="Or concentrated privacy (zCDP).", metavar="RHO")
    ] = None,
    delta: Annotated[
        str, typer.Option(help="The chance of telling all.", metavar="CHANCE")
    ] = "0",
    group: Annotated[
        int, typer.Option(help="For so many people at once, such as a household.")
    ] = 1,
    guess: Annotated[
        list[str] | None,
        typer.Option(help="A guess of your own, such as 0.2.", metavar="SHARE"),
    ] = None,
) -> None:
    """Say what an epsilon means: how far a guess about one person can move.

    Upper bounds are rounded up, so that nothing reads better than it is.
    """
    chance = number(delta, "delta")
    single, named = described(
        {"epsilon": epsilon, "odds": factor, "mu": mu, "rho": rho}, chance
    )
    loss = single.group(group)
    at = loss.slack or (Fraction(chance) if single.slack == 0 else loss.slack)
    told_delta = delta if group == 1 or single.slack == 0 else f"{float(at):.3g}"

    from rich.console import Console

    from deniable.privacy.losses.hypothesis_testing import accuracy, odds_factor

    console = Console(highlight=False)
    people = "one person" if group == 1 else f"any {group} people together"
    times = factor_up(odds_factor(loss, delta=at))
    if at:
        console.print(
            f"\n[bold]{named}, delta {delta}[/bold]: nobody learns more than from a design "
            f"that tells all with probability {told_delta} and otherwise multiplies anyone's "
            f"odds about {people} by at most [bold]{times}[/bold], so that\n"
        )
    else:
        console.print(
            f"\n[bold]{named}[/bold]: what is published multiplies anyone's odds about "
            f"{people} by at most [bold]{times}[/bold], so that\n"
        )
    own = tuple(Fraction(number(one, "guess")) for one in guess or ())
    console.print(guesses(loss, own or GUESSES, at))
    console.print(
        "\nWhoever must tell two equally likely cases apart (is she in the data or not?) is "
        f"right at most [bold]{percent_up(accuracy(loss))}[/bold] of the time; "
        "a coin is right 50 % of the time. Whoever looks for her, and accepts some false "
        "alarms, finds her so often at most:\n"
    )
    console.print(alarms(loss))


def guesses(loss: "Loss", shares: "tuple[Fraction, ...]", delta: Fraction) -> "Table":
    """The ceiling of a small, a middling and an even guess, or of one's own."""
    from rich import box
    from rich.table import Table

    from deniable.privacy.losses.hypothesis_testing import posterior

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("a guess of", justify="right")
    table.add_column("can become at most", justify="right")
    table.add_column("in people", justify="left")
    for guess in shares:
        ceiling = posterior(loss, guess, delta=delta)
        people = f"{people_up(guess)} to at most {people_up(ceiling)}"
        table.add_row(f"{float(100 * guess):g} %", percent_up(ceiling), people)
    return table


def alarms(loss: "Loss") -> "Table":
    """The ROC bound at some rates of false alarms."""
    from rich import box
    from rich.table import Table

    from deniable.privacy.losses.hypothesis_testing import detection

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("false alarms", justify="right")
    table.add_column("finds her at most", justify="right")
    for rate in ALARMS:
        found = Fraction(repr(detection(loss, rate)))
        table.add_row(f"{float(100 * rate):g} %", percent_up(found))
    return table


def described(words: dict[str, str | None], delta: Decimal) -> "tuple[Loss, str]":
    """The loss that the words on the command line stand for, and its name."""
    given = {name: text for name, text in words.items() if text is not None}
    if len(given) != 1:
        raise dp.InvalidParameter(
            "Name one loss: an epsilon, as in `deniable odds 1.1`, its odds, as in "
            "`deniable odds --odds 3`, or --mu or --rho with a --delta."
        )
    [(name, text)] = given.items()
    value, named = number(text, name), f"{name} {text}"
    if name in ("epsilon", "mu", "rho") and value > MOST:
        raise dp.InvalidParameter(
            f"`{name}` above {MOST} protects nothing: any guess can become certain. "
            f"Found {text}; most releases stay below 10."
        )
    if name in ("mu", "rho") and delta <= 0:
        raise dp.InvalidParameter(
            f"With --{name} no odds are bounded for certain. Say with which chance they may "
            "not be, as in --delta 1e-6."
        )
    if name == "mu":
        return dp.GaussianLoss(value), named
    if name == "rho":
        return dp.ConcentratedLoss(value), named
    if name == "odds":
        return dp.ApproximateLoss(delta=delta, odds=value), named
    return dp.ApproximateLoss(value, delta), named


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
