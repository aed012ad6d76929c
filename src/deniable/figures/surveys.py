"""Figures of surveys: estimates with intervals, margins by people, designs by answers."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from deniable import price
from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number
from deniable.exact.text_formats import percent
from deniable.figures.canvas import COLOURS, QUIET, canvas, count_lines, fold, wrap_title
from deniable.mechanisms import RandomizedResponse
from deniable.surveys.survey_report import QuestionResult

_POINTS = 60


def estimates(result: QuestionResult) -> Figure:
    """The share of each answer with its interval; for a number only its mean.

    >>> from deniable.surveys import parse_reports, loads, report
    >>> survey = loads(
    ...     'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\n'
    ...     'kind="yes-no"\\ntext="Do you?"'
    ... )
    >>> figure = estimates(report(survey, parse_reports(survey, ['{"a":1}'] * 9)).results[0])
    """
    rows = [
        (label, estimate)
        for place, (label, estimate) in enumerate(
            zip(result.labels, result.estimates, strict=True)
        )
        if (place == result.mean) == (result.mean == 0)
    ]
    confidence = f"{percent(result.estimates[0].confidence)} interval"
    a_mean = result.mean == 0
    labels = fold([label for label, _ in reversed(rows)])
    title = wrap_title(result.text, labels)
    tallest = max(map(count_lines, labels))
    figure, axes = canvas(
        title,
        x=f"{'mean' if a_mean else 'share'}, {confidence}, {result.respondents:,} reports",
        y="",
        size=(6.4, 1.2 + 0.2 * count_lines(title) + (0.28 + 0.12 * tallest) * len(rows)),
    )
    for place, (_, estimate) in enumerate(reversed(rows)):
        colour = COLOURS[0] if estimate.consistent else QUIET
        if estimate.consistent:
            axes.plot(estimate.interval, [place, place], color=colour, linewidth=2.5)
        axes.plot([estimate.value], [place], marker="o", color=colour)
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    if not a_mean:  # shares: from 0 on, as far as anything is drawn
        ends = [end for _, estimate in rows for end in (estimate.value, *estimate.interval)]
        most = max((end for end in ends if isfinite(end)), default=1.0)
        axes.set_xlim(0, min(1.0, max(0.1, 1.1 * most)))
    return figure


def margins(
    designs: dict[str, Any],
    *,
    people: Sequence[int] = (100, 100_000),
    confidence: Number = 0.95,
) -> Figure:
    """The margin over the number of people, for designs by name; None is a direct question.

    >>> figure = margins({"two coins": RandomizedResponse(odds=3), "asked directly": None})
    """
    if not designs:
        raise InvalidParameter("`designs` must hold at least one design. Found none.")
    figure, axes = canvas(
        "How many people a margin needs", x="people", y="margin of the share, worst case"
    )
    counts = np.unique(np.geomspace(people[0], people[-1], _POINTS).astype(int)).tolist()
    for name, design in designs.items():
        bought = [price.expected_margin(design, n=n, confidence=confidence) for n in counts]
        axes.plot(counts, bought, label=name)
    axes.set(xscale="log", yscale="log")
    axes.legend(loc="upper right")
    return figure


def designs_by_answers(epsilon: Number, *, most: int = 64) -> Figure:
    """n times the variance of a rare answer's share, over the number of answers.

    >>> figure = designs_by_answers(1, most=16)
    """
    from deniable.mechanisms import OLH, OUE, HadamardResponse, SubsetSelection

    figure, axes = canvas(
        f"Which design for how many answers (epsilon {float(epsilon):g})",
        x="answers",
        y="n times the variance of a rare answer's share",
    )
    counts = range(2, most + 1)
    kinds: tuple[Any, ...] = (RandomizedResponse, OUE, OLH, HadamardResponse, SubsetSelection)
    for kind in kinds:
        spread = [
            kind(epsilon=epsilon, categories=k).variance(0, respondents=1) for k in counts
        ]
        axes.plot(list(counts), spread, label=kind.__name__)
    axes.set_ylim(0, 3 * OUE(epsilon=epsilon, categories=2).variance(0, respondents=1))
    axes.legend(loc="upper left")
    return figure
