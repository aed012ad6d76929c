"""How far one unit can move a step, by enumeration of all records of a toy domain."""

from itertools import combinations_with_replacement, product

import numpy as np

from deniable.query.statements.row_integers import evaluate


def contributions(program):
    """What each record of the domain adds to all sums of a step, as one row."""
    records = np.array(list(product(*(range(size) for size in program.columns))), np.int64)
    named = evaluate(program.levels, {f"c{i}": column for i, column in enumerate(records.T)})
    values = np.stack([value.evaluate(named) for value in program.values], axis=1)
    if not program.places:
        return values
    vectors = np.zeros((len(records), program.size, values.shape[1]), np.int64)
    for place in program.places:
        vectors[np.arange(len(records)), place.evaluate(named)] += values
    return vectors.reshape(len(records), -1)


def largest_movement(program, rows, neighbors):
    """The largest squared movement of one unit with up to that many rows."""
    single = contributions(program)
    units = [np.zeros(single.shape[1], np.int64)]
    for count in range(1, rows + 1):
        pairs = combinations_with_replacement(range(len(single)), count)
        units += [single[list(places)].sum(axis=0) for places in pairs]
    stacked = np.unique(np.stack(units), axis=0).astype(float)
    squares = (stacked**2).sum(axis=1)
    if neighbors == "add-remove":
        return float(squares.max())
    return float((squares[:, None] + squares[None] - 2 * stacked @ stacked.T).max())


def share_of_declared(training, program):
    """The largest movement as a share of the declared one; it must not be above 1."""
    declared = training.planner.sensitivities(program)[1]
    movement = largest_movement(
        program, training.planner.max_rows_per_unit, training.data.table.neighbors
    )
    share = (movement / declared) ** 0.5
    print(f"largest movement: {share:.3f} of the declared one")
    return share
