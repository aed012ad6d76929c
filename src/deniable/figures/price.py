"""Figures of what privacy must cost: lower bounds, and how close our methods are."""

import numpy as np
from matplotlib.figure import Figure

from deniable import price
from deniable.exact.rationals import Number, positive, rational
from deniable.exact.text_formats import percent
from deniable.figures.canvas import QUIET, canvas
from deniable.mechanisms import RandomizedResponse

_POINTS = 61


def count(*, epsilon: Number = 0.5) -> Figure:
    """The standard error of a private count over epsilon, and the least possible.

    >>> figure = count(epsilon=0.5)
    """
    figure, axes = canvas(
        "What a private count must cost", x="epsilon", y="standard error, in people"
    )
    chosen_epsilon = float(positive(epsilon, "epsilon"))
    epsilons = np.geomspace(
        min(0.01, chosen_epsilon / 2), max(5.0, 2 * chosen_epsilon), _POINTS
    ).tolist()
    prices = [price.count(epsilon=value) for value in epsilons]
    axes.plot(epsilons, [each.standard_error for each in prices], label="Laplace noise")
    axes.plot(
        epsilons, [each.least_error for each in prices], label="limit of unbiased methods"
    )
    textbook = [price.unbiased_classical(value).value ** 0.5 for value in epsilons]
    axes.plot(epsilons, textbook, color=QUIET, linestyle="--", label="textbook bound")
    axes.axvline(
        chosen_epsilon, color=QUIET, linestyle=":", label=f"epsilon {chosen_epsilon:g}"
    )
    axes.set(xscale="log", yscale="log")
    axes.legend(loc="lower left")
    return figure


def proportion(*, margin: Number, n: int, epsilon: Number, confidence: Number = 0.95) -> Figure:
    """The confidence in a proportion over the number of records: the limit, what Laplace noise
    reaches, and what was asked for.

    >>> figure = proportion(margin=0.01, n=400, epsilon=0.1)
    """
    request = price.proportion(margin=margin, n=n, epsilon=epsilon, confidence=confidence)
    figure, axes = canvas(
        f"A proportion within {request.margin:g} at epsilon {request.epsilon:g}",
        x="records",
        y="confidence",
    )
    far = 2 * max(request.enough_n, n)
    sizes = sorted({round(size) for size in np.geomspace(max(1, min(10, n)), far, _POINTS)})
    prices = [
        price.proportion(margin=margin, n=size, epsilon=epsilon, confidence=confidence)
        for size in sizes
    ]
    axes.plot(sizes, [each.limit for each in prices], label="limit of all methods")
    axes.plot(sizes, [each.reached for each in prices], label="Laplace noise")
    axes.axhline(request.confidence, color=QUIET, linestyle="--", label="asked for")
    axes.plot([n], [request.confidence], "o", color="black", label=request.verdict)
    axes.set(xscale="log", ylim=(0, 1.03))
    axes.legend(loc="lower right")
    return figure


def survey(
    mechanism: RandomizedResponse,
    *,
    margin: Number,
    confidence: Number = 0.95,
    prevalence: Number | None = None,
) -> Figure:
    """How many people a margin needs, over epsilon: with coins, and asked directly.

    >>> figure = survey(RandomizedResponse(odds=3), margin=0.03)
    """
    half = float(rational(margin, "margin"))
    figure, axes = canvas(
        f"People to ask, for ± {half:g} at {percent(rational(confidence))}",
        x="epsilon",
        y="people",
    )
    chosen_epsilon = mechanism.loss.epsilon()
    epsilons = np.geomspace(
        min(0.1, chosen_epsilon / 2), max(6.0, 2 * chosen_epsilon), _POINTS
    ).tolist()
    people = [
        price.sample_size(
            RandomizedResponse(epsilon=value),
            margin=margin,
            confidence=confidence,
            prevalence=prevalence,
        )
        for value in epsilons
    ]
    axes.plot(epsilons, people, label="randomized response")
    plan = price.survey(mechanism, margin=margin, confidence=confidence, prevalence=prevalence)
    axes.axhline(plan.direct, color=QUIET, linestyle="--", label="a direct question")
    label = f"{plan.people:,} at epsilon {chosen_epsilon:.4g}"
    axes.plot([chosen_epsilon], [plan.people], "o", color="black", label=label)
    axes.set(xscale="log", yscale="log")
    axes.legend(loc="upper right")
    return figure
