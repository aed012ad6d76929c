"""Steps of gradient learning: residuals of rows, as whole numbers, added up.

The score of a row is an exact sum of whole numbers: entries of public tables at its cells. It
is clipped to [-8, 8], in 32nds, and looked up in a table of 513 numbers, 2**15 times the
sigmoid. So a residual lies in [-2**15, 2**15], whatever the row and the tables are: a residual
step of one place moves by 2**15 m if a unit of m rows comes or goes, and by 2**16 m if it is
replaced; with D + 1 places by the root of D + 1 as much.
"""

from math import exp

from deniable.learn.fit.feature_cells import offsets_of
from deniable.learn.fit.score_tables import MOST, UNIT, WholeTables
from deniable.query.statements.row_integers import (
    Clip,
    Equals,
    Lookup,
    Plus,
    Ref,
    RowInteger,
    Times,
    Whole,
)
from deniable.query.statements.step_statement import StepProgram

SCALE = 1 << 15  # a residual of 1
_EDGE = MOST * UNIT
SIGMOID = tuple(round(SCALE / (1 + exp(-z / UNIT))) for z in range(-_EDGE, _EDGE + 1))
Levels = tuple[dict[str, RowInteger], ...]


def score_sum(scores: WholeTables, score: int) -> RowInteger:
    """The whole number that is a row's score."""
    start: RowInteger = Whole(scores.intercept[score])
    looked = [Lookup(own[score], Ref(f"c{i}")) for i, own in enumerate(scores.tables)]
    return Plus((*looked, start))


def class_residuals(scores: WholeTables, target: str, classes: int) -> Levels:
    """r0, r1, ...: the residuals of each score. With two classes there is one score, of the
    second class; else each class has one, against the rest."""
    scored = [1] if classes == 2 else list(range(classes))
    places = range(len(scored))
    sums = {f"z{k}": score_sum(scores, k) for k in places}
    clipped: dict[str, RowInteger] = {
        f"y{k}": Clip(Ref(f"z{k}"), -_EDGE, _EDGE) for k in places
    }
    expected: dict[str, RowInteger] = {
        f"s{k}": Lookup(SIGMOID, Plus((Ref(f"y{k}"), Whole(_EDGE)))) for k in places
    }
    residuals: dict[str, RowInteger] = {
        f"r{k}": Plus(
            (
                Equals(Ref(target), own, Whole(SCALE), Whole(0)),
                Times(Ref(f"s{k}"), Whole(-1)),
            )
        )
        for k, own in enumerate(scored)
    }
    return sums, clipped, expected, residuals


def number_residual(scores: WholeTables, target: str, highest: int, clip: int) -> Levels:
    """r0: how far a row's number on its grid, 0 to `highest`, lies above its score, clipped to
    [-clip, clip]. One place moves by clip m, and by 2 clip m if a unit is replaced."""
    return (
        {"z0": score_sum(scores, 0)},
        {"y0": Clip(Ref("z0"), 0, highest)},
        {"d0": Plus((Ref(target), Times(Ref("y0"), Whole(-1))))},
        {"r0": Clip(Ref("d0"), -clip, clip)},
    )


def _values(levels: Levels) -> tuple[RowInteger, ...]:
    return tuple(Ref(name) for name in levels[-1])


def step_at_cells(columns: tuple[int, ...], features: int, levels: Levels) -> StepProgram:
    """Residuals at every cell of each feature, and of all rows at the last place."""
    sizes = columns[:features]
    firsts = offsets_of(sizes)
    places: list[RowInteger] = [
        Plus((Ref(f"c{i}"), Whole(first))) if first else Ref(f"c{i}")
        for i, first in enumerate(firsts)
    ]
    return StepProgram(columns, levels, (*places, Whole(sum(sizes))), _values(levels))


def step_at_leaves(
    columns: tuple[int, ...], feature: int, leaves: tuple[int, ...], levels: Levels
) -> StepProgram:
    """Residuals at the leaves of one feature's cells."""
    place = Lookup(leaves, Ref(f"c{feature}"))
    return StepProgram(columns, levels, (place,), _values(levels))
