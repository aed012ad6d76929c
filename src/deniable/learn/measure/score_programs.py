"""Steps that evaluate a model: each row counts once, at the place of its score and class.

Scores are those of the model, rounded to whole 32nds. One histogram moves by m if a unit of m
rows comes or goes, and by 2 m (L1) if it is replaced.
"""

from math import exp

import numpy as np

from deniable.learn.fit.cell_model import CellModel
from deniable.learn.fit.score_tables import MOST, UNIT, WholeTables
from deniable.learn.measure.residual_programs import score_sum
from deniable.query.statements.row_integers import (
    Clip,
    LeastPlace,
    Lookup,
    Plus,
    Ref,
    RowInteger,
    Times,
    Whole,
)
from deniable.query.statements.step_statement import StepProgram

BINS = 100  # of a histogram of scores
_EDGE = MOST * UNIT
_FAR = 1 << 20  # entries of tables stay below: their sums fit 32 bits


def whole_scores(model: CellModel, *, unit: int = UNIT) -> WholeTables:
    """The model in whole units; with two classes as one score, that of the second."""
    tables, start = list(model.tables), model.intercept
    if model.link == "softmax" and len(model.classes) == 2:
        tables, start = [own[:, 1:] - own[:, :1] for own in tables], start[1:] - start[:1]
    whole = [np.clip(np.rint(own * unit), -_FAR, _FAR).astype(int) for own in tables]
    first = np.clip(np.rint(start * unit), -_FAR, _FAR).astype(int)
    listed = tuple(tuple(map(tuple, own.T.tolist())) for own in whole)
    return WholeTables(listed, tuple(first.tolist()))


def bin_of_scores(bins: int = BINS) -> tuple[int, ...]:
    """The bin of each whole score from -8 to 8, by the probability that it stands for."""
    shares = [1 / (1 + exp(-z / UNIT)) for z in range(-_EDGE, _EDGE + 1)]
    return tuple(min(bins - 1, int(share * bins)) for share in shares)


def score_histogram_program(
    model: CellModel, columns: tuple[int, ...], bins: int = BINS
) -> StepProgram:
    """Of two classes: the place (group, class, bin of the score). The columns are the features,
    the target, and the group if there is one."""
    features = len(model.features)
    scores = whole_scores(model)
    levels: tuple[dict[str, RowInteger], ...] = (
        {"z0": score_sum(scores, 0)},
        {"y0": Clip(Ref("z0"), -_EDGE, _EDGE)},
        {"s0": Lookup(bin_of_scores(bins), Plus((Ref("y0"), Whole(_EDGE))))},
    )
    return StepProgram(columns, levels, (_place(columns, features, "s0", bins),), (Whole(1),))


def class_table_program(model: CellModel, columns: tuple[int, ...]) -> StepProgram:
    """Of several classes: the place (group, class, predicted class)."""
    features, classes = len(model.features), len(model.classes)
    scores = whole_scores(model)
    negative: dict[str, RowInteger] = {
        f"d{k}": Times(score_sum(scores, k), Whole(-1)) for k in range(classes)
    }
    chosen: dict[str, RowInteger] = {"s0": LeastPlace(tuple(negative))}
    place = _place(columns, features, "s0", classes)
    return StepProgram(columns, (negative, chosen), (place,), (Whole(1),))


def _place(columns: tuple[int, ...], features: int, last: str, width: int) -> RowInteger:
    """(group * classes + class) * width + the last number."""
    own: RowInteger = Ref(f"c{features}")
    if len(columns) > features + 1:
        own = Plus((Times(Ref(f"c{features + 1}"), Whole(columns[features])), own))
    return Plus((Times(own, Whole(width)), Ref(last)))


WEIGHT = 1024  # what a row adds at most to each sum of `error_program`


def error_program(
    model: CellModel, columns: tuple[int, ...], low: float, step: float
) -> StepProgram:
    """Of a number on a grid of 65 points: sums over all rows of 1, of its distance from the
    middle, of the square of that, and of the square of its error, clipped to half the range.
    All are at most 1,024 for a row."""
    features = len(model.features)
    moved = CellModel(
        model.features,
        tuple(table / step for table in model.tables),
        (model.intercept - low) / step,
        "identity",
    )
    scores = whole_scores(moved, unit=1)
    target = Ref(f"c{features}")
    levels: tuple[dict[str, RowInteger], ...] = (
        {"z0": score_sum(scores, 0), "y0": Plus((target, Whole(-32)))},
        {"z1": Clip(Ref("z0"), 0, 64)},
        {"d0": Plus((target, Times(Ref("z1"), Whole(-1))))},
        {"d1": Clip(Ref("d0"), -32, 32)},
    )
    squares = (Times(Ref("y0"), Ref("y0")), Times(Ref("d1"), Ref("d1")))
    values = (Whole(WEIGHT), Times(Ref("y0"), Whole(32)), *squares)
    return StepProgram(columns, levels, (), values)
