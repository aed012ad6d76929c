"""All small tables, their neighbours, and a mechanism asked about tables instead of scores."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

Table = tuple[int, ...]
BITS = 104  # enough for odds to agree to 2**-60; the enclosures of long sums are slow


def tables(records: int, values: int) -> list[Table]:
    """Every multiset of at most this many records over 0, 1, ..., values - 1."""
    return [
        table
        for n in range(records + 1)
        for table in combinations_with_replacement(range(values), n)
    ]


def neighbors(relation: str, records: int, values: int) -> Iterator[tuple[Table, Table]]:
    """Every pair of such tables that differ in one record."""
    for table in tables(records, values):
        for i in range(len(table)):
            rest = table[:i] + table[i + 1 :]
            if relation == "add-remove":
                yield rest, table
            else:
                for other in range(table[i] + 1, values):
                    yield table, tuple(sorted((*rest, other)))


class OnTables:
    """`mechanism`, given the scores of a table, under its own loss or that of a claim."""

    def __init__(
        self, mechanism: Any, scores: Callable[[Table], Any], claim: Any = None
    ) -> None:
        self.loss = (claim or mechanism).loss
        self._scores = scores

        @cache
        def bounds(own: Any, others: tuple[Any, ...]) -> tuple[int, int]:
            return mechanism.pmf_bounds(0, [own, *others], BITS)

        self._bounds = bounds

    def pmf_bounds(self, output: int, table: Table, bits: int = 256) -> tuple[int, int]:
        """A candidate's chance depends on its score and on the others' in any order (which
        has a test of its own), so that few laws need computing."""
        scores = list(self._scores(table))
        own = scores.pop(output)
        lo, hi = self._bounds(own, tuple(sorted(scores)))
        return lo << bits - BITS, hi << bits - BITS


def counts(table: Table) -> list[int]:
    """How often each of 0, 1, 2, 3 occurs: monotone when records come or go."""
    tally = Counter(table)
    return [tally[value] for value in range(4)]
