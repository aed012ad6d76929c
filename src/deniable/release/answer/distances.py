"""Distances of tables of counts from public integers: released with noise, or chosen by size.

Every distance is a whole number. A count beyond the limit is cut to it, which moves two counts
no further apart. So a unit moves a distance by no more than the plan states.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.engines.handover.exact_groups import JointCells
from deniable.mechanisms import Exponential, Gaussian
from deniable.query.plan.plan import Distances, Plan, TableDistance

_LARGEST = 1 << 62  # of a distance
_MOST = 1 << 40  # rows in one cell, so that sums of scaled counts fit into 64 bits


def draw_distances(plan: Plan, joint: JointCells) -> dict[str, int]:
    """What the distances of a plan release, by name."""
    distances = plan.distances
    assert distances is not None
    exact = [measure_distance(table, distances, joint) for table in distances.tables]
    mechanism = distances.mechanism
    if isinstance(mechanism, Gaussian):
        noisy = mechanism.release(np.array(exact, dtype=np.int64))
        drawn = [int(value) for value in np.asarray(noisy).tolist()]
    else:
        drawn = choose_tree(mechanism, exact, [table.ends for table in distances.tables])
        drawn += [-1] * (len(distances.names) - len(drawn))
    return dict(zip(distances.names, drawn, strict=False))


def measure_distance(table: TableDistance, distances: Distances, joint: JointCells) -> int:
    """The weighted sum over cells of |scale * count - model|, less the bias, exactly."""
    counts = _of_length(joint.table(table.columns), len(table.places or table.model))
    if table.places:
        merged = np.zeros(len(table.model), dtype=np.int64)
        np.add.at(merged, np.array(table.places, dtype=np.int64), counts)
        counts = merged
    apart = np.abs(distances.scale * np.minimum(counts, _MOST) - np.array(table.model))
    far = min(int(sum(apart.tolist())), 1 << 62)
    return max(-_LARGEST, min(table.weight * far - table.bias, _LARGEST))


def _of_length(counts: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """As many counts as the model has cells, whatever was counted: the rest is cut off, or 0.
    So a unit moves no count further, and no two shapes are spread over each other."""
    if len(counts) == length:
        return counts
    fitted = np.zeros(length, dtype=np.int64)
    fitted[: len(counts)] = counts[:length]
    return fitted


def choose_tree(
    mechanism: Exponential, scores: Sequence[int], ends: Sequence[tuple[int, int]]
) -> list[int]:
    """Places of tables, one after the other, each among those that join two columns which are
    not connected yet: a spanning tree, if the tables connect all columns.

    >>> choose_tree(Exponential(epsilon=9), [5000, 9000, 1], [(0, 1), (1, 2), (0, 2)])
    [1, 0]
    """
    part = {end: end for pair in ends for end in pair}
    chosen: list[int] = []
    while True:
        left = [i for i, (first, second) in enumerate(ends) if part[first] != part[second]]
        if not left:
            return chosen
        place = left[int(mechanism.release([scores[i] for i in left]))]
        chosen.append(place)
        first_part, second_part = (part[end] for end in ends[place])
        part = {end: first_part if own == second_part else own for end, own in part.items()}
