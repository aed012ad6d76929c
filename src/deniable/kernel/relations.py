"""Relations: who owns each row, and how many rows and groups one unit can have.

A relation is public, or each of its rows belongs to exactly one privacy unit and is computed
from that unit's rows and public data alone. The rules below keep that true, so removing or
changing one unit removes or changes only rows that it owns.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import product
from math import prod
from typing import NamedTuple

from sqlglot import exp

from deniable.kernel.facts import MOST_ROWS, folded
from deniable.kernel.reading import Node, no_rule, only, require
from deniable.kernel.values import Limit, Names, Value, hull

# Names without quotes that no engine takes for a keyword or a function.
_NO_KEYWORD = re.compile(r"[a-z]\d*b?(_[a-z0-9_]+)?|place|group_place|cell|units|key|one")


class Owner(NamedTuple):
    """Whose the rows are: the values of a unit column, or single rows.

    `numbers` names the numberings of rows, each as (its name, factor, remainder): its numbers
    are factor * n + remainder, so those of different remainders differ.
    """

    unit: str | None
    kind: str  # how units are compared: the declared kind of the unit's column
    numbers: frozenset[tuple[str, int, int]] = frozenset()

    def united(self, other: "Owner") -> "Owner":
        """The owner of rows of both. Row numbers may meet only if they are the same numbering,
        or cannot be equal: otherwise two rows would be taken for one."""
        both = self._replace(numbers=self.numbers | other.numbers)
        require(both == other._replace(numbers=both.numbers), "The parts have other units.")
        have_numbers = self.unit is not None or (self.numbers and other.numbers)
        require(have_numbers, "Rows without numbers are put together.")
        places = {(factor, place) for _, factor, place in both.numbers}
        apart = len(places) == len(both.numbers) and len({factor for factor, _ in places}) < 2
        require(apart, "Numbers of different tables may be equal.")
        return both


class Relation(NamedTuple):
    """Columns, owner and limits. `units` are the columns that hold the unit itself."""

    columns: Mapping[str, Value]
    owner: Owner | None  # None: public
    rows: int  # at most
    units: Names = frozenset()
    known: bool = False  # whether rows without a unit (NULL) are gone
    limits: tuple[Limit, ...] = ()
    either: tuple[Names, Names] | None = None  # after a full join: the units of both sides

    @property
    def numbered(self) -> bool:
        """Whether units are row numbers."""
        return self.owner is not None and bool(self.owner.numbers)

    def name(self, node: Node) -> str:
        """The key of a column; after a join, of alias and name."""
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise no_rule(node)
        table = only(node, "this", "table").args.get("table")
        name = folded(only(node.this, "this", "quoted").this)
        plain = node.this.args.get("quoted") or _NO_KEYWORD.fullmatch(name)
        require(plain, f"A name without quotes may be a keyword: {name}")
        key = name if table is None else f"{folded(table.this)}\0{name}"
        require(key in self.columns, f"Unknown column: {name}")
        return key

    def groups_per_unit(self, names: Iterable[str]) -> int | None:
        """How many different values of some columns one unit can have; None: any number.

        Proof. A limit on more columns limits fewer; each further column multiplies by the
        number of its values; a unit has no more groups than rows.
        """
        columns = frozenset(names) - self.units
        counts = [self._product(1, columns)]
        for limit in self.limits:
            rest = columns - limit.columns if limit.kind == "groups" else limit.columns
            counts.append(self._product(limit.most, rest))
        return min((count for count in counts if count is not None), default=None)

    def rows_per_group(self, names: Iterable[str]) -> int | None:
        """How many rows one unit can have for one value of some columns; None: any number.

        Proof. With k rows for each value of (S, T), there are at most k times the number of
        values of T for each value of S.
        """
        columns, counts = frozenset(names), []
        for limit in self.limits:
            times = self.groups_per_unit(limit.columns - columns)
            if limit.kind == "rows" and times is not None:
                counts.append(limit.most * times)
        return min(counts, default=None)

    def _product(self, times: int, names: Names) -> int | None:
        counts = [self.columns[name].most for name in names - self.units]
        return None if None in counts else times * prod(filter(None, counts))

    def carried(self, images: Mapping[str, str]) -> tuple[Limit, ...]:
        """The limits after a projection that keeps some columns under new names.

        Proof. Columns that are dropped leave a limit on groups true. In a limit on rows, they
        multiply it by the number of values that a unit has in them.
        """
        limits = []
        for limit in self.limits:
            own = limit.columns - self.units
            lost = own - set(images)
            times = 1 if limit.kind == "groups" else self.groups_per_unit(lost)
            if times is not None:
                names = frozenset(images[name] for name in own - lost)
                limits.append(Limit(limit.kind, names, limit.most * times))
        return tuple(limits)

    def spread(self, place: str, times: int) -> "Relation":
        """The relation where each row stands `times` times, each time at another place.

        Proof. A unit has `times` as many rows for each value of the other columns, and for each
        place and value of them no more than before. It has the same values of them.
        """
        columns = {n: value._replace(rank=None) for n, value in self.columns.items()}
        counts = [limit for limit in self.limits if limit.kind == "rows"]
        limits = [limit for limit in self.limits if limit.kind == "groups"]
        limits += [limit._replace(most=limit.most * times) for limit in counts]
        limits += [limit._replace(columns=limit.columns | {place}) for limit in counts]
        rows = min(MOST_ROWS, self.rows * times)
        return self._replace(columns=columns, rows=rows, limits=tuple(limits))

    def limited(self, limit: Limit) -> "Relation":
        """The relation with one more limit."""
        return self._replace(limits=(*self.limits, limit))

    def with_column(self, name: str, value: Value) -> "Relation":
        """The relation with something else known about a column."""
        return self._replace(columns={**self.columns, name: value})

    def interchanged(self) -> "Relation":
        """The relation where rows that compare equal may change places."""
        columns = {name: value.interchanged() for name, value in self.columns.items()}
        return self._replace(columns=columns)

    def qualified(self, alias: str) -> "Relation":
        """The relation with its columns named by alias and name. Window numbers and sums lose
        their meaning, because a join repeats rows."""
        images = {name: f"{alias}\0{name}" for name in self.columns}
        columns = {images[n]: v._replace(rank=None, form=None) for n, v in self.columns.items()}
        units = frozenset(images[name] for name in self.units)
        return self._replace(columns=columns, units=units, limits=self.carried(images))


def join_units(left: Relation, right: Relation, stay: tuple[bool, bool]) -> tuple[Limit, ...]:
    """Limits after a join on the unit.

    Proof. A row of a unit meets at most all rows of that unit on the other side. In an outer
    join a row without a partner stays, as one row; in a full join on both sides.
    """
    rows = []
    for a, b in product(left.limits, right.limits):
        both = max(1, a.most) * max(1, b.most) * (1 + all(stay))
        if a.kind == b.kind == "rows":
            rows.append(Limit("rows", a.columns | b.columns, both))
    groups = [limit for limit in (*left.limits, *right.limits) if limit.kind == "groups"]
    # NULL, where there is no partner, is one more value.
    return (*rows, *(limit._replace(most=limit.most + any(stay)) for limit in groups))


def unite(parts: list[Relation]) -> Relation:
    """UNION ALL: limits that all parts have, added up.

    Proof. Each row keeps its unit, so a unit's rows, or its values of some columns, are at
    most those of all parts together.
    """
    first, owner = parts[0], parts[0].owner
    for part in parts[1:]:
        alike = list(part.columns) == list(first.columns) and part.units == first.units
        require(alike, "The parts of UNION ALL have different columns.")
        require(bool(owner) == bool(part.owner), "Public and private rows are put together.")
        owner = owner.united(part.owner) if owner and part.owner else None
    limits = []
    for limit in first.limits:
        like = (limit.kind, limit.columns)
        same = [[a.most for a in p.limits if (a.kind, a.columns) == like] for p in parts]
        if all(same):
            limits.append(limit._replace(most=sum(min(caps) for caps in same)))
    columns = {name: hull([part.columns[name] for part in parts]) for name in first.columns}
    rows, known = sum(part.rows for part in parts), all(part.known for part in parts)
    return Relation(columns, owner, min(MOST_ROWS, rows), first.units, known, tuple(limits))
