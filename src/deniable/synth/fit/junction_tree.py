"""A junction tree: groups of columns (cliques) such that a model over them can be computed.

Columns that occur together in a table are joined. Columns are then eliminated one by one, each
time the one that needs the fewest cells; what is joined on the way are the cliques. A tree of
them in which neighbours share as much as possible has the running intersection property: the
cliques that hold a column are connected.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

Columns: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JunctionTree:
    """Cliques, each with its parent in the tree (-1: the root). Parents come first.

    >>> tree = JunctionTree.of([(0, 1), (1, 2)], (2, 3, 4))
    >>> sorted(tree.cliques), tree.cells
    ([(0, 1), (1, 2)], 18)
    """

    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, tables: Iterable[Columns], sizes: Sequence[int]) -> "JunctionTree":
        """A tree in which the columns of every table are together in some clique."""
        cliques = _eliminate(tables, sizes)
        parents = _span(cliques)
        return cls(tuple(cliques), tuple(parents), tuple(sizes))

    @property
    def cells(self) -> int:
        """The cells of all cliques together: what one step of fitting costs."""
        return sum(self.count(clique) for clique in self.cliques)

    def count(self, columns: Columns) -> int:
        """The number of cells of some columns."""
        return prod(self.sizes[place] for place in columns)

    def shape(self, columns: Columns) -> Columns:
        """The numbers of cells of some columns."""
        return tuple(self.sizes[place] for place in columns)

    def home(self, columns: Iterable[int]) -> int:
        """The smallest clique that holds these columns; -1 if none does."""
        wanted = set(columns)
        holds = [i for i, clique in enumerate(self.cliques) if wanted <= set(clique)]
        return min(holds, key=lambda i: self.count(self.cliques[i]), default=-1)

    def separator(self, child: int) -> Columns:
        """The columns that a clique shares with its parent."""
        parent = self.cliques[self.parents[child]]
        return tuple(place for place in self.cliques[child] if place in parent)


def _eliminate(tables: Iterable[Columns], sizes: Sequence[int]) -> list[Columns]:
    """The maximal cliques of the graph, after columns were joined as needed."""
    joined = {place: {place} for place in range(len(sizes))}
    for columns in tables:
        for place in columns:
            joined[place] |= set(columns)
    cliques: list[set[int]] = []
    while joined:
        least = min(joined, key=lambda p: (prod(sizes[q] for q in joined[p]), p))
        around = joined.pop(least)
        if not any(around <= other for other in cliques):
            cliques.append(around)
        for place in around - {least}:
            joined[place] = (joined[place] | around) - {least}
    return [tuple(sorted(clique)) for clique in cliques]


def _span(cliques: list[Columns]) -> list[int]:
    """The parent of each clique in a tree of largest shared columns (Prim); reorders the
    cliques so that parents come first."""
    left, order, parents = list(cliques[1:]), [cliques[0]], [-1]
    while left:
        _, place, parent = max(
            (len(set(own) & set(other)), -i, -j)
            for i, own in enumerate(left)
            for j, other in enumerate(order)
        )
        order.append(left.pop(-place))
        parents.append(-parent)
    cliques[:] = order
    return parents
