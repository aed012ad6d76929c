"""Every design that a question can have, small enough to be enumerated."""

from fractions import Fraction

import numpy as np

from deniable.mechanisms import (
    OLH,
    OUE,
    Duchi,
    HadamardResponse,
    Hybrid,
    NumberOrNot,
    Ordinal,
    Piecewise,
    RandomizedResponse,
    SquareWave,
    SubsetSelection,
)
from deniable.surveys import SurveyQuestion, design_question
from deniable.surveys.questionnaire.designs import DesignedQuestion


def boxes(options, epsilon, more=False):
    names = [str(i) for i in range(options)]
    question = SurveyQuestion(
        id="m", kind="multiple-choice", text="?", options=names, prefer_not_to_say=more
    )
    return design_question(question, Fraction(epsilon))


NUMBER = {"low": 0, "high": 4}
DESIGNS = {
    "yes/no": RandomizedResponse(odds=3),
    "lopsided": RandomizedResponse.channel(Fraction(3, 4), Fraction(1, 2)),
    "three": RandomizedResponse(odds=6, categories=3),
    "ordinal": Ordinal(odds=9, categories=4),
    "OUE": OUE(odds=4, categories=5),
    "OLH": OLH(odds=4, categories=4),
    "Hadamard": HadamardResponse(odds=6, categories=4),
    "subset": SubsetSelection(odds=3, categories=5),
    "Duchi": Duchi(odds=5, **NUMBER),
    "piecewise": Piecewise(odds=5, **NUMBER),
    "hybrid": Hybrid(odds=5, **NUMBER),
    "square wave": SquareWave(odds=5, **NUMBER),
    "number or not": NumberOrNot(odds=5, **NUMBER),
    "boxes at once": boxes(2, 2),
    "boxes or not": boxes(2, 3, more=True),
    "box by box": boxes(7, 7),
}


def answers(design):
    """Every answer there is (of many boxes: some), as `randomize` takes them."""
    if isinstance(design, DesignedQuestion):
        k = design.options
        if k > 3:
            return np.array([[i % (j + 2) == 0 for j in range(k)] for i in range(6)], dtype=int)
        rows = [[i >> j & 1 for j in range(k)] for i in range(1 << k)]
        if design.question.prefer_not_to_say:
            rows = [row for row in rows if not row[-1] or sum(row) == 1]
        return np.array(rows)
    if isinstance(design, NumberOrNot):
        return np.array([0.0, 1.0, 3.0, 4.0, np.nan])
    if hasattr(design, "categories"):
        return np.arange(design.categories)
    return np.arange(5)


def meaning(design):
    """What a reading should be on average, a row an answer."""
    given = answers(design)
    if isinstance(design, DesignedQuestion):
        return given.astype(float)
    if isinstance(design, NumberOrNot):
        gone = np.isnan(given)
        part = np.where(gone, 0, given) / 4
        return np.stack([np.where(gone, 0, 1 - part), np.where(gone, 0, part), gone], axis=1)
    if hasattr(design, "categories"):
        return np.eye(design.categories)
    return np.stack([1 - given / 4, given / 4], axis=1)


def law(design, answer):
    """All reports with their chances under an answer, as `randomize` gives them."""
    if hasattr(design, "reports"):
        rows = list(design.reports())
        return np.array(rows), np.array([float(design.pmf(row, int(answer))) for row in rows])
    many = getattr(design, "outputs", None) or design.categories
    truth = answer if not hasattr(design, "categories") else int(answer)
    return np.arange(many), np.array([float(design.pmf(y, truth)) for y in range(many)])


def moments(design, reader):
    """E u and E u**2 of the readings u, a row an answer, by enumeration."""
    if isinstance(design, DesignedQuestion):
        indicators = meaning(design)
        p, q = (np.array([float(getattr(c, s)) for c in design.channels]) for s in "pq")
        chance = q + (p - q) * indicators
        yes, no = (1 - q) / (p - q), -q / (p - q)
        return chance * yes + (1 - chance) * no, chance * yes**2 + (1 - chance) * no**2
    means, squares = [], []
    for answer in answers(design):
        reports, chances = law(design, answer)
        read = reader(reports)
        means.append(chances @ read)
        squares.append(chances @ read**2)
    return np.array(means), np.array(squares)
