"""Pictures of what privacy must cost: bounds no method passes, and how near ours comes."""

import numpy as np
from matplotlib.figure import Figure

from deniable import price
from deniable.exact.rationals import Number, positive, rational
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
    here = float(positive(epsilon, "epsilon"))
    epsilons = np.geomspace(min(0.01, here / 2), max(5.0, 2 * here), _POINTS).tolist()
    prices = [price.count(epsilon=one) for one in epsilons]
    axes.plot(epsilons, [one.standard_error for one in prices], label="Laplace noise")
    axes.plot(epsilons, [one.least_error for one in prices], label="no unbiased method below")
    known = [price.unbiased_classical(one).value ** 0.5 for one in epsilons]
    axes.plot(epsilons, known, color=QUIET, linestyle="--", label="the textbooks' bound")
    axes.axvline(here, color=QUIET, linestyle=":", label=f"epsilon {here:g}")
    axes.set(xscale="log", yscale="log")
    axes.legend(loc="lower left")
    return figure


def proportion(*, margin: Number, n: int, epsilon: Number, confidence: Number = 0.95) -> Figure:
    """The confidence in a proportion over the number of records: possible, reached, asked for.

    >>> figure = proportion(margin=0.01, n=400, epsilon=0.1)
    """
    asked = price.proportion(margin=margin, n=n, epsilon=epsilon, confidence=confidence)
    figure, axes = canvas(
        f"A proportion within {asked.margin:g} at epsilon {asked.epsilon:g}",
        x="records",
        y="confidence",
    )
    far = 2 * max(asked.enough_n, n)
    sizes = sorted({round(one) for one in np.geomspace(max(1, min(10, n)), far, _POINTS)})
    found = [
        price.proportion(margin=margin, n=one, epsilon=epsilon, confidence=confidence)
        for one in sizes
    ]
    axes.plot(sizes, [one.limit for one in found], label="no method whatever above")
    axes.plot(sizes, [one.reached for one in found], label="Laplace noise")
    axes.axhline(asked.confidence, color=QUIET, linestyle="--", label="asked for")
    axes.plot([n], [asked.confidence], "o", color="black", label=asked.verdict)
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
    """How many people a margin takes over epsilon, through coins and asked directly.

    >>> figure = survey(RandomizedResponse(odds=3), margin=0.03)
    """
    half = float(rational(margin, "margin"))
    figure, axes = canvas(
        f"People to ask, for ± {half:g} at {100 * float(rational(confidence)):g} %",
        x="epsilon",
        y="people",
    )
    here = mechanism.loss.epsilon()
    epsilons = np.geomspace(min(0.1, here / 2), max(6.0, 2 * here), _POINTS).tolist()
    through = [
        price.sample_size(
            RandomizedResponse(epsilon=one),
            margin=margin,
            confidence=confidence,
            prevalence=prevalence,
        )
        for one in epsilons
    ]
    axes.plot(epsilons, through, label="randomized response")
    planned = price.survey(
        mechanism, margin=margin, confidence=confidence, prevalence=prevalence
    )
    axes.axhline(planned.direct, color=QUIET, linestyle="--", label="a direct question")
    label = f"{planned.people:,} at epsilon {here:.4g}"
    axes.plot([here], [planned.people], "o", color="black", label=label)
    axes.set(xscale="log", yscale="log")
    axes.legend(loc="upper right")
    return figure
