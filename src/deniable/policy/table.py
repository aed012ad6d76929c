"""One table: where it is, whose privacy it protects, and what one unit may contribute."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, whole
from deniable.policy.budget import Budget
from deniable.policy.column import Column
from deniable.policy.suggestions import nearest
from deniable.policy.value_kinds import Kind
from deniable.privacy.neighbors import Neighbors, neighboring

ROW_CEILING = 10**12

T = TypeVar("T")
Malformed: TypeAlias = Literal["report", "refuse", "skip"]


@dataclass(frozen=True, slots=True, init=False)
class Table:
    """What is public about one table.

    All rows with one value of the column `unit` are one privacy unit; without it each row
    is. A unit counts in at most `max_groups_per_unit` groups of an answer, and in each of them
    with at most `max_rows_per_unit_per_group` rows.
    No more than `row_ceiling` rows are ever summed; `expected_rows` is a public
    guess, used to predict margins and for nothing else. A `public` table protects nobody.
    Lines of a CSV file that are no rows are left out: `malformed` says whether opening counts
    them and tells the owner's log ("report"), refuses ("refuse"), or does not look ("skip").
    `budget` limits what may be asked about this table, within the budget of its unit.
    `version` is the owner's label of the data: a question asked before on the same version
    has the same answer, at no further cost.

    >>> visits = Table(
    ...     "visits", unit="patient", max_groups_per_unit=4, max_rows_per_unit_per_group=10
    ... )
    >>> visits.neighbors, visits.row_ceiling == 10**12
    ('add-remove', True)
    """

    name: str
    source: Any = field(repr=False)  # a path as text, or a frame
    unit: str | None
    neighbors: Neighbors
    max_groups_per_unit: int
    max_rows_per_unit_per_group: int
    row_ceiling: int
    expected_rows: int | None
    public: bool
    malformed: Malformed
    columns: Mapping[str, Column]
    budget: Budget | None
    version: str

    def __init__(
        self,
        name: str,
        source: Any = None,
        *,
        unit: str | None = None,
        neighbors: Neighbors = "add-remove",
        max_groups_per_unit: int | None = None,
        max_rows_per_unit_per_group: int | None = None,
        row_ceiling: int = ROW_CEILING,
        expected_rows: int | None = None,
        public: bool = False,
        malformed: Malformed = "report",
        columns: Mapping[str, Column] | None = None,
        budget: Budget | None = None,
        version: str = "",
    ) -> None:
        limits = {
            "max_groups_per_unit": max_groups_per_unit,
            "max_rows_per_unit_per_group": max_rows_per_unit_per_group,
        }
        _check_unit(name, unit, limits, public)
        values = {
            "name": _named(name),
            "source": source,
            "unit": unit,
            "neighbors": _at("neighbors", lambda: neighboring(neighbors)),
            **{key: _whole(key, 1 if one is None else one) for key, one in limits.items()},
            "row_ceiling": _whole("row_ceiling", row_ceiling),
            "expected_rows": expected_rows and _whole("expected_rows", expected_rows),
            "public": public,
            "malformed": _malformed(malformed),
            "columns": MappingProxyType(_distinct(name, dict(columns or {}))),
            "budget": budget,
            "version": version,
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @classmethod
    def declare(
        cls,
        name: str,
        source: Any = None,
        *,
        bounds: Mapping[str, tuple[Number, Number]] | None = None,
        step: Mapping[str, Number] | None = None,
        keys: Mapping[str, Any] | None = None,
        kind: Mapping[str, Kind] | None = None,
        **limits: Any,
    ) -> "Table":
        """A table from one mapping a property, as Python callers write it.

        >>> table = Table.declare("visits", bounds={"cost": (0, 99)}, keys={"ward": ["A", "B"]})
        >>> table.columns["ward"].keys
        ('A', 'B')
        """
        given = {"bounds": bounds, "step": step, "keys": keys, "kind": kind}
        _check_declared(given, limits)
        names = dict.fromkeys(column for one in given.values() for column in one or {})
        columns = {
            column: Column(
                column,
                **{what: one[column] for what, one in given.items() if one and column in one},  # type: ignore[arg-type]
            )
            for column in names
        }
        return cls(name, source, columns=columns, **limits)

    def with_schema(self, schema: Mapping[str, str]) -> "Table":
        """This table with every column of its source: names and types, which are public.

        A declared name is found whatever its case, and takes the source's spelling.

        >>> table = Table.declare("visits", bounds={"Cost": (0, 99)})
        >>> table.with_schema({"cost": "DOUBLE", "ward": "VARCHAR"}).columns["ward"].kind
        'text'
        """
        spelt = {name.lower(): name for name in schema}
        for name in [*self.columns, *([] if self.unit is None else [self.unit])]:
            if name.lower() not in spelt:
                raise InvalidPolicy(
                    f"Table {self.name!r} has no column {name!r}. "
                    + nearest(name, schema, "Its columns are"),
                    where=("columns", name) if name in self.columns else ("unit",),
                )
        declared = {name.lower(): column for name, column in self.columns.items()}
        return Table(
            self.name,
            self.source,
            unit=None if self.unit is None else spelt[self.unit.lower()],
            neighbors=self.neighbors,
            max_groups_per_unit=self.max_groups_per_unit if self.unit is not None else None,
            max_rows_per_unit_per_group=self.max_rows_per_unit_per_group
            if self.unit is not None
            else None,
            row_ceiling=self.row_ceiling,
            expected_rows=self.expected_rows,
            public=self.public,
            malformed=self.malformed,
            columns={
                name: declared.get(name.lower(), Column(name)).seen_as(name, type_)
                for name, type_ in schema.items()
            },
            budget=self.budget,
            version=self.version,
        )


_LIMITS = (
    "unit",
    "neighbors",
    "max_groups_per_unit",
    "max_rows_per_unit_per_group",
    "row_ceiling",
    "expected_rows",
)
_REST = ("public", "malformed", "budget", "version")


def _check_declared(given: Mapping[str, Any], limits: Mapping[str, Any]) -> None:
    """Refuses words that are not known, and properties that are not said of columns."""
    known = (*given, *_LIMITS, *_REST)
    for word in limits:
        if word not in known:
            raise InvalidParameter(
                f"`{word}` is nothing that can be said about a table. "
                + nearest(word, known, "What can be said is")
            )
    examples = {"bounds": "(0, 100)", "step": "0.01", "keys": '["A", "B"]', "kind": '"date"'}
    for what, one in given.items():
        if one is not None and not isinstance(one, Mapping):
            raise InvalidPolicy(
                f"`{what}` says something about each of some columns, as in   "
                f'{what}={{"name": {examples[what]}}}. Found {one!r}.',
                where=(what,),
            )


def _malformed(choice: str) -> str:
    if choice in get_args(Malformed):
        return choice
    raise InvalidPolicy(
        f'`malformed` must be "report", "refuse" or "skip". Found {choice!r}.',
        where=("malformed",),
    )


def _named(name: str) -> str:
    if isinstance(name, str) and name and name.isprintable():
        return name
    raise InvalidPolicy(f"A table needs a name that can be printed. Found {name!r}.")


def _check_unit(
    name: str, unit: str | None, limits: Mapping[str, int | None], public: bool
) -> None:
    if unit is not None and not (isinstance(unit, str) and unit):
        raise InvalidPolicy(
            f"`unit` must be the name of the column that tells people apart. Found {unit!r}.",
            where=("unit",),
        )
    if public and unit is not None:
        raise InvalidPolicy(
            f"Table {name!r} is public, so it protects nobody, and yet has a `unit`. "
            "Remove one of the two.",
            where=("public",),
        )
    for key, limit in limits.items():
        if unit is None and limit not in (None, 1):
            raise InvalidPolicy(
                f"Table {name!r}: `{key}` says what one unit may contribute, but without a "
                f"`unit` each row is one, in one group. Name the column that tells people "
                f'apart, for example   unit = "patient"   or remove `{key}`.',
                where=(key,),
            )


def _whole(key: str, value: int) -> int:
    return _at(key, lambda: whole(value, key))


def _at(key: str, check: Callable[[], T]) -> T:
    """What the check returns; its complaint is one about the policy, at that key."""
    try:
        return check()
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=(key,)) from None


def _distinct(table: str, columns: dict[str, Column]) -> dict[str, Column]:
    seen: dict[str, str] = {}
    for name in columns:
        if name.lower() in seen:
            raise InvalidPolicy(
                f"Table {table!r} declares {seen[name.lower()]!r} and {name!r}, which SQL "
                "cannot tell apart.",
                where=("columns", name),
            )
        seen[name.lower()] = name
    return columns
