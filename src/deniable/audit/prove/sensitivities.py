"""How far one record can move a function, by trying every small table.

Global sensitivity is the largest distance between the values at neighbouring tables. Local
sensitivity is the largest distance from one table to its neighbours. Inverse sensitivity is how
many records must change before the function takes a given value (Asi & Duchi 2020): the
breadth-first distance in the graph of neighbours. Values are rationals; a float means the
decimal that it prints as.
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

from deniable.audit.prove.comparable_outputs import freeze
from deniable.audit.prove.datasets import make_datasets
from deniable.errors import InvalidParameter
from deniable.exact import enclosures
from deniable.exact.rationals import rational

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Sensitivity:
    """The exact sensitivities `l1` and `l2` over all tables of a domain, and where they occur.

    >>> movement = sensitivity(sum, [0, 1, 5], 3, neighbors="add-remove")
    >>> movement.l1, movement.worst, movement.local([0, 1])
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
        table = self._find(data)
        return max(
            (self._l1(table, other) for other in self._graph[table]), default=Fraction(0)
        )

    def inverse(self, data: Iterable[Any]) -> dict[Any, int]:
        """For every possible value: how many records must change until the function takes it.

        Only tables that were tried count: with a larger `size` the numbers may be smaller.

        >>> movement = sensitivity(sum, [0, 1], 3, neighbors="replace")
        >>> movement.inverse([0, 0, 1])
        {1: 0, 0: 1, 2: 1, 3: 2}
        """
        start = self._find(data)
        steps, todo = {start: 0}, deque([start])
        changes: dict[Any, int] = {}
        while todo:
            table = todo.popleft()
            changes.setdefault(_simplify(self.values[table]), steps[table])
            for other in self._graph[table]:
                if other not in steps:
                    steps[other] = steps[table] + 1
                    todo.append(other)
        return dict(sorted(changes.items(), key=lambda item: item[1]))

    @cached_property
    def _graph(self) -> dict[Any, list[Any]]:
        graph: dict[Any, list[Any]] = {table: [] for table in self.values}
        for a, b in self.pairs:
            graph[a].append(b)
            graph[b].append(a)
        return graph

    def _find(self, data: Iterable[Any]) -> Any:
        table = freeze(list(data))
        if table not in self.values:
            raise InvalidParameter(
                f"{table} is not one of the tables that were tried. Take a larger `domain` or "
                "`size`."
            )
        return table

    def _l1(self, a: Any, b: Any) -> Fraction:
        return sum((abs(x - y) for x, y in self._paired(a, b)), start=Fraction(0))

    def _l2_squared(self, a: Any, b: Any) -> Fraction:
        return sum(((x - y) ** 2 for x, y in self._paired(a, b)), start=Fraction(0))

    def _paired(self, a: Any, b: Any) -> Iterable[tuple[Fraction, Fraction]]:
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
    tables = make_datasets(neighbors, domain, size)
    values = {table: _vector(f, data) for table, data in tables.inputs.items()}
    lengths = {len(value) for value in values.values()}
    if len(lengths) > 1:
        raise InvalidParameter(
            f"The function returns {min(lengths)} numbers for some tables and {max(lengths)} "
            "for others. The length gives the table away, so no noise can hide it. Return the "
            "same number of values for every table."
        )
    return Sensitivity(values, tables.pairs)


def _vector(f: Callable[[list[Any]], Any], data: list[Any]) -> Vector:
    try:
        value = f(list(data))
    except Exception as error:
        error.add_note(f"while evaluating the function at {data!r}")
        raise
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    numbers: list[Any] = [value] if isinstance(value, Real | Decimal) else _flatten(value)
    return tuple(
        rational(int(number) if isinstance(number, bool) else number, "value")
        for number in numbers
    )


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in _flatten(part)]
    return [value]


def _simplify(value: Vector) -> Any:
    """Whole numbers as int; a vector of one number as that number."""
    numbers = tuple(x.numerator if x.denominator == 1 else x for x in value)
    return numbers[0] if len(numbers) == 1 else numbers
