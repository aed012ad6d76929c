"""The step of k-means: each row adds its count and its numbers at the nearest centre.

The nearest centre is decided by whole numbers: |m|² - 2 m.z differs from the squared distance
by |z|², which is the same for all centres.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.learn.fit.cluster_steps import ClusterStep
from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.measure.moment_step import CodedTerm
from deniable.query.statements.row_integers import (
    LeastPlace,
    Plus,
    Ref,
    RowInteger,
    Times,
    Whole,
)
from deniable.query.statements.step_statement import StepProgram

Matrix = NDArray[np.float64]


def cluster_program(
    sizes: Sequence[int], coded: Sequence[CodedTerm], centres: Matrix, weight: int
) -> StepProgram:
    """Centres are rounded to whole numbers first, so that every engine decides alike."""
    rows: dict[str, RowInteger] = {f"z{i}": own.number for i, own in enumerate(coded)}
    whole = np.rint(centres).astype(int).tolist()
    far: dict[str, RowInteger] = {}
    for place, centre in enumerate(whole):
        parts: list[RowInteger] = [Whole(sum(coordinate**2 for coordinate in centre))]
        for name, coordinate in zip(rows, centre, strict=True):
            if coordinate:
                parts.append(Times(Ref(name), Whole(-2 * coordinate)))
        if len(parts) == 1:  # a centre in the middle of the box: the same for all rows
            parts.append(Times(Ref("z0"), Whole(0)))
        far[f"d{place}"] = Plus(tuple(parts))
    near: dict[str, RowInteger] = {"b0": LeastPlace(tuple(far))}
    values: list[RowInteger] = [Whole(weight), *map(Ref, rows)]
    return StepProgram(tuple(sizes), (rows, far, near), (Ref("b0"),), tuple(values))


def read_step(sums: NoisySums, weight: int) -> ClusterStep:
    """The noisy counts and sums of all centres."""
    values = sums.values.astype(np.float64)
    return ClusterStep(values[:, 0], values[:, 1:], sums.deviation, weight)
