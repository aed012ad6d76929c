"""`deniable price`: the least that privacy costs with any method, and what ours costs."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

import deniable as dp
from deniable.app.cli.argument_values import parse_decimal

price = typer.Typer(
    help="The least that privacy costs, with any method: counts, proportions, surveys.",
    no_args_is_help=True,
    context_settings={"ignore_unknown_options": True},
)

Epsilon = Annotated[
    str | None, typer.Option(help="The privacy loss, for example 0.5.", metavar="EPSILON")
]
Odds = Annotated[
    str | None, typer.Option(help="Or e^epsilon: 3 is two coins.", metavar="FACTOR")
]
Confidence = Annotated[str, typer.Option(help="The confidence of the margin.", metavar="SHARE")]
Margin = Annotated[
    str, typer.Option(help="The margin of error: 0.03 is 3 points.", metavar="SHARE")
]
Plot = Annotated[
    Path | None, typer.Option(help="Also draw it: a .svg or .png file.", metavar="FILE")
]


@price.command()
def count(
    epsilon: Annotated[str, typer.Option(help="The privacy loss.", metavar="EPSILON")],
    confidence: Confidence = "0.95",
    plot: Plot = None,
) -> None:
    """Show the margin of a private count, and the least margin of any unbiased method."""
    loss, level = parse_decimal(epsilon, "epsilon"), parse_decimal(confidence, "confidence")
    print(dp.price.count(epsilon=loss, confidence=level))
    if plot:
        from deniable.figures import canvas, price

        print(canvas.save(price.count(epsilon=loss), plot))


@price.command()
def proportion(
    margin: Margin,
    n: Annotated[int, typer.Option(help="The number of records.", metavar="N")],
    epsilon: Annotated[str, typer.Option(help="The privacy loss.", metavar="EPSILON")],
    confidence: Confidence = "0.95",
    plot: Plot = None,
) -> None:
    """Say whether any method can estimate a proportion with this margin."""
    half, loss = parse_decimal(margin, "margin"), parse_decimal(epsilon, "epsilon")
    level = parse_decimal(confidence, "confidence")
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
        str | None, typer.Option(help="The expected share of yes.", metavar="SHARE")
    ] = None,
    plot: Plot = None,
) -> None:
    """Say how many people to ask if everyone flips coins before answering."""
    half, level = parse_decimal(margin, "margin"), parse_decimal(confidence, "confidence")
    coins = dp.RandomizedResponse(
        epsilon=_parse_optional(epsilon, "epsilon"), odds=_parse_optional(odds, "odds")
    )
    share = _parse_optional(prevalence, "prevalence")
    print(dp.price.survey(coins, margin=half, confidence=level, prevalence=share))
    if plot:
        from deniable.figures import canvas, price

        picture = price.survey(coins, margin=half, confidence=level, prevalence=share)
        print(canvas.save(picture, plot))


def _parse_optional(text: str | None, name: str) -> Decimal | None:
    return None if text is None else parse_decimal(text, name)
