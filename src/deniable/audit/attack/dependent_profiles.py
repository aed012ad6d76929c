"""Every small set of profiles that some combination of published numbers depends on alone.

A combination is a vector of the row space. It is zero outside of a set S exactly if it is
orthogonal to the null space, and depends on S alone. So such a combination exists if and only
if the rows of S in a basis of the null space are linearly dependent. The smallest such sets are
found by dividing by one row after the other: what is left of a further row is zero, or what is
left of two is parallel. A random projection to few dimensions keeps every dependence, so no set
is missed; each set that is found is checked without the projection.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.exact.bits import SYSTEM

Matrix = NDArray[np.int64]
MOST_WORK = 15_000_000  # rows that are looked at: about ten seconds
_STEP = 500  # what a step costs beside its rows


@dataclass(frozen=True, slots=True)
class SmallSets:
    """Sets of profiles, and the most profiles of a set up to which every set was looked at."""

    sets: tuple[tuple[int, ...], ...]
    complete: int


def find_dependent(
    null_space: Matrix, sizes: Matrix, limit: int, prime: int, most_work: int = MOST_WORK
) -> SmallSets:
    """The smallest dependent sets of rows of a matrix modulo a prime: no part of a set is
    dependent, and the sizes of its rows add up to less than the limit.

    >>> rows = np.array([[1, 0], [0, 1], [1, 1], [2, 2]])
    >>> find_dependent(rows, np.ones(4, dtype=np.int64), 4, 2147483647).sets
    ((2, 3), (0, 1, 2), (0, 1, 3))
    """
    few = np.flatnonzero(sizes < limit)
    few = few[np.argsort(sizes[few], kind="stable")]
    sets: set[tuple[int, ...]] = set()
    looking = _Looking(_project(null_space[few], limit - 1, prime), sizes[few], limit, prime)
    complete, work = min(2, limit - 1), 0
    for size in range(2, max(3, limit)):
        for combination in looking.choices(size - 2):
            work += _STEP + len(few) - (combination[-1] + 1 if combination else 0)
            if work > most_work:
                return SmallSets(tuple(sorted(sets, key=_order)), complete)
            for places in looking.extend(combination):
                rows = tuple(sorted(int(few[place]) for place in places))
                if _is_circuit(null_space[list(rows)], prime):
                    sets.add(rows)
        complete = size if size < limit else complete
    return SmallSets(tuple(sorted(sets, key=_order)), limit - 1)


def _order(profiles: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(profiles), profiles


class _Looking:
    """Looks for dependent rows among projected ones."""

    def __init__(self, rows: Matrix, sizes: Matrix, limit: int, prime: int) -> None:
        self._rows, self._sizes, self._limit, self._prime = rows, sizes, limit, prime
        self._mix = _residues(rows.shape[1], prime)
        self._left: list[tuple[tuple[int, ...], Matrix]] = [((), rows)]  # after each division

    def choices(
        self, many: int, combination: tuple[int, ...] = ()
    ) -> Iterator[tuple[int, ...]]:
        """Sets of that many rows that two further rows can join without reaching the limit. The
        rows are sorted by size, so the first that is too large ends the loop."""
        if len(combination) == many:
            yield combination
            return
        total_size = int(self._sizes[list(combination)].sum())
        for row in range(combination[-1] + 1 if combination else 0, len(self._sizes)):
            if (
                total_size + int(self._sizes[row]) * (many - len(combination) + 2)
                >= self._limit
            ):
                break
            yield from self.choices(many, (*combination, row))

    def extend(self, combination: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """The chosen rows with one more or two more of higher places that depend on them."""
        left = self._divide(combination)
        if left is None:
            return
        start = combination[-1] + 1 if combination else 0
        rest, sizes = left[start:], self._sizes[start:]
        total_size = int(self._sizes[list(combination)].sum())
        zero = ~rest.any(axis=1)
        for row in np.flatnonzero(zero & (total_size + sizes < self._limit)).tolist():
            yield (*combination, start + row)
        others = np.flatnonzero(~zero)
        if len(others) < 2:
            return
        mixed = _mix(rest[others], self._mix, self._prime)
        order = np.argsort(mixed, kind="stable")
        same = np.flatnonzero(np.diff(mixed[order]) == 0)
        for run in np.split(same, np.flatnonzero(np.diff(same) > 1) + 1) if len(same) else ():
            alike = np.sort(others[order[run[0] : run[-1] + 2]])
            yield from self._pair(combination, alike + start, total_size)

    def _pair(
        self, combination: tuple[int, ...], alike: Matrix, total_size: int
    ) -> Iterator[tuple[int, ...]]:
        """Each row with the smallest other one: rows come in the order of their sizes."""
        first = int(alike[0])
        for other in alike[1:].tolist():
            if total_size + int(self._sizes[first]) + int(self._sizes[other]) < self._limit:
                yield (*combination, first, int(other))

    def _divide(self, combination: tuple[int, ...]) -> Matrix | None:
        """What is left of all rows after division by the chosen ones; None if these depend on
        each other. The last ways are kept, because choices come in order."""
        while self._left[-1][0] != combination[: len(self._left[-1][0])]:
            self._left.pop()
        while len(self._left[-1][0]) < len(combination):
            prefix, left = self._left[-1]
            row = left[combination[len(prefix)]]
            pivots = np.flatnonzero(row)
            if not len(pivots):
                return None
            pivot, prime = pivots[0], self._prime
            scaled = row * pow(int(row[pivot]), -1, prime) % prime
            left = (left + (prime - left[:, pivot])[:, None] * scaled) % prime
            self._left.append((combination[: len(prefix) + 1], np.delete(left, pivot, axis=1)))
        return self._left[-1][1]


def _mix(rows: Matrix, factors: Matrix, prime: int) -> Matrix:
    """A number for each row that is the same for parallel rows. Rows are not zero."""
    first = rows[np.arange(len(rows)), (rows != 0).argmax(axis=1)]
    inverse, power, exponent = np.ones_like(first), first, prime - 2
    while exponent:
        if exponent & 1:
            inverse = inverse * power % prime
        power, exponent = power * power % prime, exponent >> 1
    mixed = np.zeros(len(rows), dtype=np.int64)
    for column, factor in zip(rows.T, factors.tolist(), strict=False):
        mixed = (mixed + column * factor) % prime
    return np.asarray(mixed * inverse % prime, dtype=np.int64)


def _project(rows: Matrix, dimensions: int, prime: int) -> Matrix:
    """Random combinations of the columns, unless there are few."""
    if rows.shape[1] <= dimensions:
        return rows
    columns = []
    for _ in range(dimensions):
        factors = _residues(rows.shape[1], prime)
        columns.append((rows * factors % prime).sum(axis=1) % prime)
    return np.stack(columns, axis=1)


def _residues(many: int, prime: int) -> Matrix:
    return SYSTEM.draw(62, many).astype(np.int64) % (prime - 1) + 1


def _is_circuit(rows: Matrix, prime: int) -> bool:
    """Whether the rows depend on each other, and no part of them does.

    >>> _is_circuit(np.array([[1, 0], [2, 0]]), 7), _is_circuit(np.array([[0], [1]]), 7)
    (True, False)
    """
    return all(solve_relation(rows, prime))


def solve_relation(rows: Matrix, prime: int) -> list[int]:
    """Factors with which the rows add up to zero, if they are unique up to a common one; zeros
    otherwise.

    >>> solve_relation(np.array([[1, 2], [3, 6]]), 7)
    [4, 1]
    """
    many, wide = rows.shape
    work = np.concatenate([rows % prime, np.eye(many, dtype=np.int64)], axis=1)
    place = 0
    for column in range(wide):
        below = place + np.flatnonzero(work[place:, column])
        if not len(below):
            continue
        if place == many - 1:
            return [0] * many  # the rows are independent
        work[[place, below[0]]] = work[[below[0], place]]
        scaled = work[place] * pow(int(work[place, column]), -1, prime) % prime
        factors = (prime - work[place + 1 :, column])[:, None]
        work[place + 1 :] = (work[place + 1 :] + factors * scaled) % prime
        place += 1
    return [int(factor) for factor in work[place, wide:]] if place == many - 1 else [0] * many
