"""Relations: who owns each row, and how many rows and groups one unit can have.

A relation is public, or each of its rows belongs to exactly one privacy unit and is computed
from that unit's rows and public data alone. The rules below keep that true, so removing or
changing one unit removes or changes only rows that it owns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from deniable.errors import PlanRefused
from deniable.kernel.facts import MOST_ROWS
from deniable.kernel.values import Limit, Names, Value, hull
from deniable.privacy.neighbors import Neighbors


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose the rows are: the values of a unit column, or single rows.

    `numbers` names the numberings of rows, each as (its name, factor, remainder): its numbers
    are factor * n + remainder, so those of different remainders differ.
    """

    unit: str | None
    kind: str  # how units are compared: the declared kind of the unit's column
    neighbors: Neighbors
    numbers: frozenset[tuple[str, int, int]] = frozenset()

    def united(self, other: "Owner") -> "Owner":
        """The owner of rows of both. Row numbers may meet only if they are the same numbering,
        or cannot be equal: otherwise two rows would be taken for one."""
        together = replace(self, numbers=self.numbers | other.numbers)
        if together != replace(other, numbers=together.numbers):
            raise PlanRefused("Rows of different kinds of units are put together.")
        if self.unit is None and not (self.numbers and other.numbers):
            raise PlanRefused("Rows without numbers are put together.")
        places = {(factor, place) for _, factor, place in together.numbers}
        if len(places) < len(together.numbers) or len({factor for factor, _ in places}) > 1:
            raise PlanRefused("Numbers of different tables may be equal.")
        return together


@dataclass(frozen=True, slots=True)
class Relation:
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

    def groups_per_unit(self, names: Iterable[str]) -> int | None:
        """How many different values of some columns one unit can have; None: any number.

        Proof. A limit on more columns limits fewer; each further column multiplies by the
        number of its values; a unit has no more groups than rows.
        """
        wanted = frozenset(names) - self.units
        found = [self._product(1, wanted)]
        for limit in self.limits:
            rest = wanted - limit.columns if limit.kind == "groups" else limit.columns
            found.append(self._product(limit.most, rest))
        return min((count for count in found if count is not None), default=None)

    def rows_per_group(self, names: Iterable[str]) -> int | None:
        """How many rows one unit can have for one value of some columns; None: any number.

        Proof. With k rows for each value of (S, T), there are at most k times the number of
        values of T for each value of S.
        """
        given, found = frozenset(names), []
        for limit in self.limits:
            times = self.groups_per_unit(limit.columns - given)
            if limit.kind == "rows" and times is not None:
                found.append(limit.most * times)
        return min(found, default=None)

    def _product(self, times: int, names: Names) -> int | None:
        values = [self.columns.get(name) for name in names - self.units]
        counts = [None if value is None else value.most for value in values]
        return None if None in counts else times * prod(count for count in counts if count)

    def carried(self, images: Mapping[str, str]) -> tuple[Limit, ...]:
        """The limits after a projection that keeps some columns under new names.

        Proof. Columns that are dropped leave a limit on groups true. In a limit on rows, they
        multiply it by the number of values that a unit has in them.
        """
        kept = []
        for limit in self.limits:
            own = limit.columns - self.units
            lost = own - set(images)
            times = 1 if limit.kind == "groups" else self.groups_per_unit(lost)
            names = frozenset(images[name] for name in own - lost)
            if times is not None:
                kept.append(Limit(limit.kind, names, limit.most * times))
        return tuple(kept)

    def limited(self, limit: Limit) -> "Relation":
        """The relation with one more limit."""
        return replace(self, limits=(*self.limits, limit))

    def with_column(self, name: str, value: Value) -> "Relation":
        """The relation with something else known about a column."""
        return replace(self, columns={**self.columns, name: value})

    def qualified(self, alias: str) -> "Relation":
        """The relation with its columns named by alias and name. Window numbers lose their
        meaning, because a join repeats rows."""
        images = {name: f"{alias}\0{name}" for name in self.columns}
        columns = {
            images[name]: replace(value.renamed(images[name]), rank=None, form=None)
            for name, value in self.columns.items()
        }
        units = frozenset(images[name] for name in self.units)
        return replace(self, columns=columns, units=units, limits=self.carried(images))


def join_units(left: Relation, right: Relation, side: str) -> tuple[Limit, ...]:
    """Limits after a join on the unit.

    Proof. A row of a unit meets at most all rows of that unit on the other side. In an outer
    join a row without a partner stays, as one row; in a full join on both sides.
    """
    rows = []
    for a, b in product(left.limits, right.limits):
        both = a.most * max(1, b.most) + (b.most * max(1, a.most) if side == "FULL" else 0)
        if a.kind == b.kind == "rows":
            rows.append(Limit("rows", a.columns | b.columns, both))
    keep = [limit for part in (left, right) for limit in part.limits if limit.kind == "groups"]
    # NULL, where there is no partner, is one more value.
    return (*rows, *(replace(limit, most=limit.most + (side != "")) for limit in keep))


def unite(parts: list[Relation]) -> Relation:
    """UNION ALL: limits that all parts have, added up.

    Proof. Each row keeps its unit, so a unit's rows, or its values of some columns, are at
    most those of all parts together.
    """
    first, owner = parts[0], parts[0].owner
    for part in parts[1:]:
        if list(part.columns) != list(first.columns) or part.units != first.units:
            raise PlanRefused("The parts of UNION ALL have different columns.")
        if (owner is None) != (part.owner is None):
            raise PlanRefused("Public and private rows are put together.")
        owner = owner.united(part.owner) if owner and part.owner else None
    limits = []
    for limit in first.limits:
        like = (limit.kind, limit.columns)
        same = [[a.most for a in p.limits if (a.kind, a.columns) == like] for p in parts]
        if all(same):
            limits.append(replace(limit, most=sum(min(one) for one in same)))
    hulls = {name: hull([part.columns[name] for part in parts]) for name in first.columns}
    columns = {name: value.renamed(name) for name, value in hulls.items()}
    rows, known = sum(part.rows for part in parts), all(part.known for part in parts)
    return Relation(columns, owner, min(MOST_ROWS, rows), first.units, known, tuple(limits))
