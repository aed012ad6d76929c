"""`deniable odds`: what an epsilon means, as odds and as numbers of people."""

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

import deniable as dp
from deniable.app.cli.argument_values import parse_decimal

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.privacy import Loss

ALARMS = (Fraction(1, 100), Fraction(5, 100), Fraction(1, 10))
MAX_LOSS = 1000

Epsilon = Annotated[
    str | None, typer.Argument(help="The privacy loss, for example 1.1.", metavar="EPSILON")
]
Factor = Annotated[
    str | None, typer.Option("--odds", help="Or e^epsilon: 3 is two coins.", metavar="FACTOR")
]
Mu = Annotated[
    str | None, typer.Option(help="Or Gaussian noise: sensitivity / sigma.", metavar="MU")
]
Rho = Annotated[str | None, typer.Option(help="Or concentrated privacy (zCDP).", metavar="RHO")]
Delta = Annotated[
    str, typer.Option(help="The probability of revealing everything.", metavar="CHANCE")
]
Group = Annotated[int, typer.Option(help="For this many people together, such as a household.")]
Guess = Annotated[
    list[str] | None, typer.Option(help="A guess of your own, such as 0.2.", metavar="SHARE")
]


def odds(
    epsilon: Epsilon = None,
    factor: Factor = None,
    mu: Mu = None,
    rho: Rho = None,
    delta: Delta = "0",
    group: Group = 1,
    guess: Guess = None,
) -> None:
    """Explain what an epsilon means: how far a guess about one person can move.

    Upper bounds are rounded up.
    """
    chance = parse_decimal(delta, "delta")
    single, name = read_loss({"epsilon": epsilon, "odds": factor, "mu": mu, "rho": rho}, chance)
    loss = single.group(group)
    at = loss.slack or (Fraction(chance) if single.slack == 0 else loss.slack)
    own = tuple(Fraction(parse_decimal(text, "guess")) for text in guess or ())

    from rich.console import Console

    from deniable.exact.text_formats import factor_up, percent_tenths_up
    from deniable.privacy.losses.hypothesis_testing import accuracy, odds_factor
    from deniable.privacy.losses.loss_in_words import GUESSES

    console = Console(highlight=False)
    people = "one person" if group == 1 else f"any {group} people together"
    most = factor_up(odds_factor(loss, delta=at))
    bound = f"multiplies anyone's odds about {people} by at most [bold]{most}[/bold], so that\n"
    if at:
        probability = delta if group == 1 or single.slack == 0 else f"{float(at):.3g}"
        console.print(
            f"\n[bold]{name}, delta {delta}[/bold]: at worst, what is published reveals "
            f"everything with probability {probability} and otherwise {bound}"
        )
    else:
        console.print(f"\n[bold]{name}[/bold]: what is published {bound}")
    console.print(guess_table(loss, own or GUESSES, at))
    right = percent_tenths_up(accuracy(loss))
    console.print(
        "\nIs she in the data or not? If both are equally likely, the best guess is right at "
        f"most [bold]{right}[/bold] of the time; a coin is right 50 % of the time. A test that "
        "accepts some false alarms finds her at most this often:\n"
    )
    console.print(alarm_table(loss))


def guess_table(loss: "Loss", shares: "tuple[Fraction, ...]", delta: Fraction) -> "Table":
    """What guesses can become at most."""
    from rich import box
    from rich.table import Table

    from deniable.exact.text_formats import people_up, percent, percent_tenths_up
    from deniable.privacy.losses.hypothesis_testing import exact_posterior

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("a guess of", justify="right")
    table.add_column("can become at most", justify="right")
    table.add_column("in people", justify="left")
    for guess in shares:
        ceiling = exact_posterior(loss, guess, delta=delta)
        people = f"{people_up(guess)} to at most {people_up(ceiling)}"
        table.add_row(percent(guess), percent_tenths_up(ceiling), people)
    return table


def alarm_table(loss: "Loss") -> "Table":
    """The bound on the ROC curve, at some rates of false alarms."""
    from rich import box
    from rich.table import Table

    from deniable.exact.text_formats import percent, percent_tenths_up
    from deniable.privacy.losses.hypothesis_testing import detection

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("false alarms", justify="right")
    table.add_column("finds her at most", justify="right")
    for rate in ALARMS:
        detected = Fraction(repr(detection(loss, rate)))
        table.add_row(percent(rate), percent_tenths_up(detected))
    return table


def read_loss(options: dict[str, str | None], delta: Decimal) -> "tuple[Loss, str]":
    """The loss that the options describe, and its name."""
    arguments = {name: text for name, text in options.items() if text is not None}
    if len(arguments) != 1:
        raise dp.InvalidParameter(
            "Name one loss: an epsilon, as in `deniable odds 1.1`; its odds, as in "
            "`deniable odds --odds 3`; or --mu or --rho with a --delta."
        )
    [(name, text)] = arguments.items()
    value, label = parse_decimal(text, name), f"{name} {text}"
    if name in ("epsilon", "mu", "rho") and value > MAX_LOSS:
        raise dp.InvalidParameter(
            f"`{name}` above {MAX_LOSS} protects nothing: any guess can become certain. "
            f"Found {text}; most releases stay below 10."
        )
    if name in ("mu", "rho") and delta <= 0:
        raise dp.InvalidParameter(
            f"--{name} needs --delta: without a delta it puts no limit on the odds. For "
            "example, --delta 1e-6."
        )
    if name == "mu":
        return dp.GaussianLoss(value), label
    if name == "rho":
        return dp.ConcentratedLoss(value), label
    if name == "odds":
        return dp.ApproximateLoss(delta=delta, odds=value), label
    return dp.ApproximateLoss(value, delta), label
