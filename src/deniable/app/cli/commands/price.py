"""`deniable price`: what privacy must cost, for any method, and how near we come."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli.commands.odds import number

price = typer.Typer(
    help="What privacy must cost: counts, proportions, surveys.",
    no_args_is_help=True,
    context_settings={"ignore_unknown_options": True},
)

Epsilon = Annotated[
    str | None, typer.Option(help="The privacy loss, for example 0.5.", metavar="EPSILON")
]
Odds = Annotated[
    str | None, typer.Option(help="Or e^epsilon: 3 is two coins.", metavar="FACTOR")
]
Confidence = Annotated[str, typer.Option(help="How sure to be.", metavar="SHARE")]
Margin = Annotated[
    str, typer.Option(help="How far off it may be: 0.03 is 3 points.", metavar="SHARE")
]
Plot = Annotated[
    Path | None, typer.Option(help="Draw it, too: a .svg or .png file.", metavar="FILE")
]


@price.command()
def count(
    epsilon: Annotated[str, typer.Option(help="The privacy loss.", metavar="EPSILON")],
    confidence: Confidence = "0.95",
    plot: Plot = None,
) -> None:
    """The margin of a private count, and the least that any unbiased method could have."""
    loss, level = number(epsilon, "epsilon"), number(confidence, "confidence")
    print(dp.price.count(epsilon=loss, confidence=level))
    if plot:
        from deniable.figures import canvas, price

        print(canvas.save(price.count(epsilon=loss), plot))


@price.command()
def proportion(
    margin: Margin,
    n: Annotated[int, typer.Option(help="How many records.", metavar="N")],
    epsilon: Annotated[str, typer.Option(help="The privacy loss.", metavar="EPSILON")],
    confidence: Confidence = "0.95",
    plot: Plot = None,
) -> None:
    """Whether a proportion can be told that closely, by any method at all."""
    half, loss = number(margin, "margin"), number(epsilon, "epsilon")
    level = number(confidence, "confidence")
    print(dp.price.proportion(margin=half, n=n, epsilon=loss, confidence=level))
    if plot:
        from deniable.figures import canvas, price

        picture = price.proportion(margin=half, n=n, epsilon=loss, confidence=level)
        print(canvas.save(picture, plot))


@price.command()
def survey(
    margin: Margin,
    epsilon: Epsilon = None,
    odds: Odds = None,
    confidence: Confidence = "0.95",
    prevalence: Annotated[
        str | None, typer.Option(help="The share of yes to expect.", metavar="SHARE")
    ] = None,
    plot: Plot = None,
) -> None:
    """How many people to ask, when everybody flips coins before answering."""
    half, level = number(margin, "margin"), number(confidence, "confidence")
    coins = dp.RandomizedResponse(epsilon=_given(epsilon, "epsilon"), odds=_given(odds, "odds"))
    share = _given(prevalence, "prevalence")
    print(dp.price.survey(coins, margin=half, confidence=level, prevalence=share))
    if plot:
        from deniable.figures import canvas, price

        picture = price.survey(coins, margin=half, confidence=level, prevalence=share)
        print(canvas.save(picture, plot))


def _given(text: str | None, name: str) -> Decimal | None:
    return None if text is None else number(text, name)
