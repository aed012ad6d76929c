"""How far one record can move a function, by trying every small table.

Global sensitivity is the largest distance between the values at neighbouring tables; local
sensitivity the largest at one table; inverse sensitivity how many records must change before
the function takes a given value (Asi & Duchi 2020), which is the breadth-first distance in the
graph of neighbours. Values are rationals, a float meaning the decimal that it prints as.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from deniable.audit.prove.coins import frozen
from deniable.audit.prove.datasets import Datasets, datasets
from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.rationals import rational

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Sensitivity:
    """What was found on all tables of a domain: `l1` and `l2`, exact, and where.

    >>> found = sensitivity(sum, [0, 1, 5], 3, neighbors="add-remove")
    >>> found.l1, found.worst, found.local([0, 1])
    (Fraction(5, 1), ((5,), ()), Fraction(5, 1))
    >>> print(sensitivity(lambda t: max(t, default=0), [0, 1, 5], 3, neighbors="replace"))
    l1 = 5, l2 = 5.0, worst at (0, 0, 0) and (5, 0, 0)
    """

    values: dict[Any, Vector]
    pairs: tuple[tuple[Any, Any], ...]

    @cached_property
    def worst(self) -> tuple[Any, Any]:
        """The two neighbours that are furthest apart in the L1 norm."""
        return max(self.pairs, key=lambda pair: self._l1(*pair))

    @cached_property
    def worst_l2(self) -> tuple[Any, Any]:
        """The two neighbours that are furthest apart in the L2 norm."""
        return max(self.pairs, key=lambda pair: self._l2_squared(*pair))

    @property
    def l1(self) -> Fraction:
        """Global L1 sensitivity, exactly."""
        return self._l1(*self.worst)

    @property
    def l2_squared(self) -> Fraction:
        """The square of global L2 sensitivity, exactly."""
        return self._l2_squared(*self.worst_l2)

    @property
    def l2(self) -> float:
        """Global L2 sensitivity, rounded up."""
        return enclosures.float_up(Fraction(enclosures.sqrt(self.l2_squared, 128)[1], 1 << 128))

    def local(self, data: Iterable[Any]) -> Fraction:
        """How far one record can move the value of this table, in the L1 norm."""
        table = self._known(data)
        return max(
            (self._l1(table, other) for other in self._graph[table]), default=Fraction(0)
        )

    def inverse(self, data: Iterable[Any]) -> dict[Any, int]:
        """For every value there is: how many records must change until the function has it.

        Within the tables that were tried: a larger `size` may find shorter ways.

        >>> found = sensitivity(sum, [0, 1], 3, neighbors="replace")
        >>> found.inverse([0, 0, 1])
        {1: 0, 0: 1, 2: 1, 3: 2}
        """
        start = self._known(data)
        steps, todo = {start: 0}, deque([start])
        found: dict[Any, int] = {}
        while todo:
            table = todo.popleft()
            found.setdefault(_shown(self.values[table]), steps[table])
            for other in self._graph[table]:
                if other not in steps:
                    steps[other] = steps[table] + 1
                    todo.append(other)
        return dict(sorted(found.items(), key=lambda one: one[1]))

    @cached_property
    def _graph(self) -> dict[Any, list[Any]]:
        graph: dict[Any, list[Any]] = {table: [] for table in self.values}
        for a, b in self.pairs:
            graph[a].append(b)
            graph[b].append(a)
        return graph

    def _known(self, data: Iterable[Any]) -> Any:
        table = frozen(list(data))
        if table not in self.values:
            raise InvalidParameter(f"{table} is none of the tables that were tried.")
        return table

    def _l1(self, a: Any, b: Any) -> Fraction:
        return sum((abs(x - y) for x, y in self._both(a, b)), start=Fraction(0))

    def _l2_squared(self, a: Any, b: Any) -> Fraction:
        return sum(((x - y) ** 2 for x, y in self._both(a, b)), start=Fraction(0))

    def _both(self, a: Any, b: Any) -> Iterable[tuple[Fraction, Fraction]]:
        return zip(self.values[a], self.values[b], strict=True)

    def __str__(self) -> str:
        a, b = self.worst
        return f"l1 = {self.l1}, l2 = {self.l2}, worst at {a} and {b}"


def sensitivity(
    f: Callable[[list[Any]], Any],
    domain: Iterable[Any],
    size: int,
    *,
    neighbors: str,
) -> Sensitivity:
    """The exact sensitivity of `f` on all lists of records from a small domain.

    With "replace" the lists have exactly `size` records, with "add-remove" up to `size`.

    >>> sensitivity(lambda t: [t.count(0), t.count(1)], [0, 1], 3, neighbors="replace").l1
    Fraction(2, 1)
    """
    found: Datasets = datasets(neighbors, domain, size)
    values = {table: _vector(f, data) for table, data in found.inputs.items()}
    lengths = {len(value) for value in values.values()}
    if len(lengths) > 1:
        raise InvalidParameter(
            f"The function returns {min(lengths)} numbers for some tables and {max(lengths)} "
            "for others: the length alone tells them apart, so no noise can hide them."
        )
    return Sensitivity(values, found.pairs)


def _vector(f: Callable[[list[Any]], Any], data: list[Any]) -> Vector:
    try:
        value = f(list(data))
    except Exception as error:
        error.add_note(f"while evaluating the function at {data!r}")
        raise
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    listed: list[Any] = [value] if isinstance(value, Real | Decimal) else _flat(value)
    return tuple(
        rational(int(one) if isinstance(one, bool) else one, "value") for one in listed
    )


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in _flat(one)]
    return [value]


def _shown(value: Vector) -> Any:
    listed = tuple(one.numerator if one.denominator == 1 else one for one in value)
    return listed[0] if len(listed) == 1 else listed
