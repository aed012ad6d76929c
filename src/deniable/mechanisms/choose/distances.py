"""How many records must change for the answer to become t: D(x, t), for all t at once.

A change adds or removes a record (add-remove), or replaces one (replace). Changing one record
changes D(x, t) by at most one, for every question, so D is a score of sensitivity one. Tests
compare the closed forms below with a breadth-first search over all small tables.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidData, InvalidParameter
from deniable.privacy import Neighbors

UNREACHABLE = -1  # marks an answer that no table of the relation gives
_MOST_TABLES = 200_000
_SAFE = 1 << 62  # two such integers differ by an int64


class Distance(Protocol):
    """D(x, t) for every possible answer t, in order; UNREACHABLE if no table gives t."""

    def __call__(self, data: Any) -> NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True)
class DistanceToQuantile:
    """The k-th smallest of n records, k = ceil(q n), at least 1.

    It is t if at most k - 1 records lie below t and at least k do not lie above t. Replacing a
    record by t reduces what is missing by one. Adding a t brings the rank closer by 1 - q or q,
    removing a record by q or 1 - q. So each change gains the larger of the two.

    >>> DistanceToQuantile((1, 2, 3, 4), Fraction(1, 2), "replace")([1, 1, 1, 4]).tolist()
    [0, 2, 2, 2]
    """

    values: tuple[Any, ...] = field(repr=False)
    q: Fraction
    neighbors: Neighbors

    def __call__(self, data: Any) -> NDArray[np.int64]:
        records, counts = count_values(data)
        values = _read_records(self.values)
        if values.dtype != records.dtype:
            values, records = values.astype(object), records.astype(object)
        sums = np.concatenate([[0], np.cumsum(counts)])
        below = sums[np.searchsorted(records, values, side="left")]
        through = sums[np.searchsorted(records, values, side="right")]
        n = int(sums[-1])
        if self.neighbors == "replace":
            if n == 0:
                raise InvalidData(
                    "A quantile under replace neighbours needs at least one record."
                )
            k = max(1, -(-self.q.numerator * n // self.q.denominator))
            return np.asarray(np.maximum(0, np.maximum(k - through, below - (k - 1))))
        absent = through == below
        return np.asarray(absent + self._moves(below, through + absent, n + absent))

    def _moves(
        self, below: NDArray[np.int64], through: NDArray[np.int64], n: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Changes still needed once t occurs: q n must lie in (below, through]."""
        if self.q == 0:
            return below
        top, bottom = self.q.numerator, self.q.denominator
        gain = max(top, bottom - top)
        if n.size and int(n.max()) * bottom >= _SAFE:  # 0.3333333333333333 has 10**16 here
            below, through, n = (array.astype(object) for array in (below, through, n))
        above, under = top * n - bottom * through, bottom * below - top * n
        return np.where(
            above > 0, -(-above // gain), np.where(under >= 0, under // gain + 1, 0)
        ).astype(np.int64)


@dataclass(frozen=True, slots=True)
class DistanceToMode:
    """The most frequent category; if there are several, each of them is right.

    Under add-remove, adding copies of t is as good as removing others, so D is the lead of the
    most frequent category. Under replace, k changes add k to t and take k from those above.

    >>> DistanceToMode(("a", "b"), "add-remove")(["a", "a", "a", "b"]).tolist()
    [0, 2]
    """

    categories: tuple[Hashable, ...]
    neighbors: Neighbors

    def __call__(self, data: Any) -> NDArray[np.int64]:
        frequency = _count_categories(data)
        if not frequency.keys() <= set(self.categories):
            raise InvalidData("Some records are not in the declared categories.")
        counts = np.array([frequency[category] for category in self.categories], dtype=np.int64)
        if self.neighbors == "add-remove":
            return np.asarray(counts.max() - counts, dtype=np.int64)
        low, high = np.zeros_like(counts), counts.max() - counts
        while (low < high).any():  # the least k whose excess over c_t + k is at most k
            k = (low + high) // 2
            enough = self._excess(counts, counts + k) <= k
            low, high = np.where(enough, low, k + 1), np.where(enough, k, high)
        return low

    @staticmethod
    def _excess(counts: NDArray[np.int64], line: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many records lie above each line, over all categories."""
        order = np.sort(counts)
        sums = np.concatenate([[0], np.cumsum(order)])
        place = np.searchsorted(order, line, side="right")
        return np.asarray(sums[-1] - sums[place] - line * (order.size - place))


@dataclass(frozen=True, slots=True)
class RoundedMeans:
    """Means of whole numbers from lo to hi, rounded to a grid."""

    lo: int
    hi: int
    step: Fraction

    def outputs(self) -> tuple[Fraction, ...]:
        """The means that can be released: the grid points from lo to hi, in order."""
        first, last = (
            math.floor(end / self.step + Fraction(1, 2)) for end in (self.lo, self.hi)
        )
        return tuple(i * self.step for i in range(first, last + 1))


@dataclass(frozen=True, slots=True)
class DistanceToMean(RoundedMeans):
    """The mean of a public number of whole-numbered records from lo to hi, rounded to a grid.

    k replacements can move the sum by at most the sum of the k largest moves of single records.

    >>> DistanceToMean(0, 3, Fraction(1))([0, 0, 3]).tolist()
    [1, 0, 1, 2]
    """

    def __call__(self, data: Any) -> NDArray[np.int64]:
        records = np.asarray(data)
        if records.ndim != 1 or not records.size or records.dtype.kind not in "iu":
            raise InvalidData("A mean needs a list of one or more whole numbers.")
        records = np.sort(np.clip(records.astype(np.int64), self.lo, self.hi))
        up = np.concatenate([[0], np.cumsum(self.hi - records)])
        down = np.concatenate([[0], np.cumsum(records[::-1] - self.lo)])
        n, total = records.size, int(records.sum())
        half = self.step / 2
        distances = []
        for t in self.outputs():
            least = -(-(t - half) * n // 1)  # sums from here ...
            most = -(-(t + half) * n // 1) - 1  # ... to here have a mean that rounds to t
            if total < least:
                distances.append(int(np.searchsorted(up, int(least) - total)))
            else:
                distances.append(int(np.searchsorted(down, max(0, total - int(most)))))
        return np.array(distances, dtype=np.int64)


class SearchedDistance:
    """Any function of small tables, by breadth-first search from all tables with an answer.

    Tables are multisets of exactly `records` records (replace), or of at most `records`
    (add-remove).
    """

    def __init__(
        self,
        function: Callable[[tuple[Any, ...]], Any],
        domain: Sequence[Any],
        records: int,
        neighbors: Neighbors,
    ) -> None:
        sizes = range(records + 1) if neighbors == "add-remove" else (records,)
        if sum(math.comb(len(domain) + n - 1, n) for n in sizes) > _MOST_TABLES:
            raise InvalidParameter(
                f"There are over {_MOST_TABLES} tables of {records} records over {len(domain)} "
                "values. Give the distances in closed form, or use fewer records or values."
            )
        self._order = {value: place for place, value in enumerate(domain)}
        places = range(len(domain))
        tables = [t for n in sizes for t in combinations_with_replacement(places, n)]
        listed = set(tables)
        answers = {t: function(tuple(domain[place] for place in t)) for t in tables}
        self.outputs = tuple(dict.fromkeys(a for a in answers.values() if a is not None))
        self.exhaustive = None not in answers.values()
        links = {
            t: [s for s in _neighboring_tables(t, len(domain), neighbors) if s in listed]
            for t in tables
        }
        columns = [
            _distances_from([t for t in tables if answers[t] == output], links)
            for output in self.outputs
        ]
        self._distances = {
            t: np.array([column.get(t, UNREACHABLE) for column in columns]) for t in tables
        }

    def __call__(self, data: Any) -> NDArray[np.int64]:
        try:
            table = tuple(sorted(self._order[record] for record in data))
        except (KeyError, TypeError):
            raise InvalidData("Some records are not in the declared domain.") from None
        if table not in self._distances:
            raise InvalidData("The number of records differs from the declared `records`.")
        return self._distances[table]


def _neighboring_tables(
    table: tuple[int, ...], values: int, neighbors: Neighbors
) -> Iterator[tuple[int, ...]]:
    for i in range(len(table)):
        rest = table[:i] + table[i + 1 :]
        if neighbors == "add-remove":
            yield rest
        else:
            yield from (tuple(sorted((*rest, value))) for value in range(values))
    if neighbors == "add-remove":
        yield from (tuple(sorted((*table, value))) for value in range(values))


def _distances_from(
    sources: list[tuple[int, ...]], links: dict[tuple[int, ...], list[tuple[int, ...]]]
) -> dict[tuple[int, ...], int]:
    distances = dict.fromkeys(sources, 0)
    queue = deque(sources)
    while queue:
        table = queue.popleft()
        for other in links[table]:
            if other not in distances:
                distances[other] = distances[table] + 1
                queue.append(other)
    return distances


def count_values(data: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Sorted distinct values and how often each occurs; from values, or from their counts.

    >>> values, counts = count_values({3: 2, 1: 5})
    >>> values.tolist(), counts.tolist()
    ([1, 3], [5, 2])
    """
    if isinstance(data, Mapping):
        values = _read_records(tuple(data))
        counts = np.array([_read_count(count) for count in data.values()], dtype=np.int64)
        order = np.argsort(values, kind="stable")
        return values[order], counts[order]
    values, counts = np.unique(_read_records(data), return_counts=True)
    return values, counts.astype(np.int64)


def _read_records(values: Any) -> NDArray[Any]:
    array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    if array.ndim != 1:
        raise InvalidData("Records must be one list, or a mapping of value to count.")
    if array.dtype == object:
        kinds = {type(record) for record in array}
        if kinds <= {int} and all(abs(record) < 2**63 for record in array):
            return array.astype(np.int64)
        if kinds <= {float, np.float64}:
            array = array.astype(np.float64)
        elif not all(issubclass(kind, int | Fraction | np.integer) for kind in kinds):
            raise InvalidData(
                "Records must be numbers of one type: integers, floats or Fractions."
            )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidData(
            "Some records are NaN, which cannot be sorted. Remove or replace them."
        )
    return array


def _count_categories(data: Any) -> Counter[Any]:
    if isinstance(data, Mapping):
        return Counter({value: _read_count(count) for value, count in data.items()})
    return Counter(data.tolist() if isinstance(data, np.ndarray) else data)


def _read_count(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise InvalidData("Counts must be whole numbers, zero or more.")
    return int(count)
