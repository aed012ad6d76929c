"""Distances of tables of counts from public integers: released with noise, or chosen by size.

Every distance is a whole number. A count beyond the limit is cut to it, which moves two counts
no further apart. So a unit moves a distance by no more than the plan states.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from deniable.mechanisms import Exponential, Gaussian
from deniable.query.plan.plan import Plan, TableDistance
from deniable.release.answer.cell_places import PlacedCells

MOST_ROWS = 1 << 40  # in one cell, so that sums of scaled counts fit into 64 bits


def draw_distances(plan: Plan, cells: Mapping[str, PlacedCells]) -> dict[str, int]:
    """What the distances of a plan release, by name."""
    distances = plan.distances
    if distances is None:
        return {}
    exact = [
        measure_distance(table, distances.scale, cells[table.name])
        for table in distances.tables
    ]
    mechanism = distances.mechanism
    if isinstance(mechanism, Gaussian):
        noisy = mechanism.release(np.array(exact, dtype=np.int64))
        drawn = [int(value) for value in np.asarray(noisy).tolist()]
    else:
        drawn = choose_tree(mechanism, exact, [table.ends for table in distances.tables])
        drawn += [-1] * (len(distances.names) - len(drawn))
    return dict(zip(distances.names, drawn, strict=False))


def measure_distance(table: TableDistance, scale: int, cells: PlacedCells) -> int:
    """The sum over cells of |scale * count - model|, exactly."""
    counts = np.zeros(len(table.model), dtype=np.int64)
    places = np.array(table.places or range(len(table.model)), dtype=np.int64)
    np.add.at(counts, places[cells.cell], np.minimum(cells.count, MOST_ROWS))
    apart = np.abs(scale * np.minimum(counts, MOST_ROWS) - np.array(table.model))
    return min(int(sum(apart.tolist())), 1 << 62)


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
        left = [i for i, (one, other) in enumerate(ends) if part[one] != part[other]]
        if not left:
            return chosen
        place = left[int(mechanism.release([scores[i] for i in left]))]
        chosen.append(place)
        kept, joined = (part[end] for end in ends[place])
        part = {end: kept if own == joined else own for end, own in part.items()}
