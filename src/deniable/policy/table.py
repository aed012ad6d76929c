"""One table: its source, its privacy unit, and what one unit may contribute."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, whole
from deniable.exact.suggestions import suggest
from deniable.policy.budget import Budget
from deniable.policy.column import Column, DeclaredKind, kind_of_type
from deniable.policy.names import compared_name
from deniable.policy.sample import Sample
from deniable.policy.source_addresses import is_untyped, public_address
from deniable.policy.unit_paths import UnitPath, check_unit_columns
from deniable.privacy.neighbors import Neighbors, neighboring

ROW_CEILING = 10**12

T = TypeVar("T")
Malformed: TypeAlias = Literal["refuse", "skip"]


@dataclass(frozen=True, slots=True, init=False)
class Table:
    """What is public about one table.

    All rows with the same value of the column `unit` are one privacy unit; without `unit` each
    row is one. If the column has another name in this table, `unit_column` says which; if it is
    in another table, `unit_path` leads there, by keys that are declared `unique`.
    A unit counts in at most `max_groups_per_unit` groups of an answer, and in each of them with
    at most `max_rows_per_unit_per_group` rows.
    At most `row_ceiling` rows are summed. `expected_rows` is a public guess, only used to
    predict margins. A `public` table is not protected.
    `malformed` says what opening does with malformed lines of a CSV file: raise an error
    ("refuse"), or leave them out ("skip"). Only the owner's log says where they are.
    `budget` limits what questions about this table may cost, within the budget of its unit.
    `version` is the owner's label of the data. A question that is repeated on the same version
    of the same source gets the same answer, at no further cost. A frame has no address, so its
    answers are repeated only for this very object, and not for another with the same name.
    `sample` says how the rows were drawn from a population; only `population()` uses it.

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
    sample: Sample | None = field(default=None)
    address: str = field(init=False, repr=False, compare=False)  # of the source; no secrets
    unit_column: str | None = None  # if it is not called as the unit
    unit_path: str | None = None
    unique: tuple[str, ...] = ()

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
        malformed: Malformed = "refuse",
        columns: Mapping[str, Column] | None = None,
        budget: Budget | None = None,
        version: str = "",
        unit_column: str | None = None,
        unit_path: str | None = None,
        unique: Sequence[str] = (),
        sample: Sample | Mapping[str, Any] | None = None,
    ) -> None:
        most = (max_groups_per_unit, max_rows_per_unit_per_group)
        limits = dict(zip(_PER_UNIT, most, strict=True))
        _check_unit(name, unit, limits, public)
        values = {
            "name": _check_name(name),
            "source": source,
            "unit": unit,
            "neighbors": _check_at("neighbors", lambda: neighboring(neighbors)),
            **{key: _check_integer(key, _or_one(limit)) for key, limit in limits.items()},
            "row_ceiling": _check_integer("row_ceiling", row_ceiling),
            "expected_rows": expected_rows and _check_integer("expected_rows", expected_rows),
            "public": public,
            "malformed": _check_malformed(malformed),
            "columns": MappingProxyType(_check_names(name, dict(columns or {}))),
            "budget": budget,
            "version": version,
            "sample": Sample.read(sample, unit, columns or {}),
            "address": _find_address(source),
            **check_unit_columns(name, unit, unit_column, unit_path, unique),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def path(self) -> UnitPath | None:
        """The first step to the table that holds the unit; None if this one does."""
        return None if self.unit_path is None else UnitPath.parse(self.unit_path)

    @property
    def id_column(self) -> str | None:
        """The column that holds the unit; None if each row is one, or another table holds it.

        >>> Table("visits", unit="patient", unit_column="patient_id").id_column
        'patient_id'
        """
        return None if self.unit_path is not None else self.unit_column or self.unit

    @classmethod
    def declare(
        cls,
        name: str,
        source: Any = None,
        *,
        bounds: Mapping[str, tuple[Number, Number]] | None = None,
        step: Mapping[str, Number] | None = None,
        keys: Mapping[str, Any] | None = None,
        kind: Mapping[str, DeclaredKind] | None = None,
        length: Mapping[str, int] | None = None,
        **limits: Any,
    ) -> "Table":
        """A table from one mapping per property, which is convenient in Python.

        >>> table = Table.declare("visits", bounds={"cost": (0, 99)}, keys={"ward": ["A", "B"]})
        >>> table.columns["ward"].keys
        ('A', 'B')
        """
        properties = {"bounds": bounds, "step": step, "keys": keys, "kind": kind}
        properties |= {"length": length}
        _check_declared(properties, limits)
        names = dict.fromkeys(
            column for values in properties.values() for column in values or {}
        )
        columns = {
            column: Column(
                column,
                **{  # type: ignore[arg-type]
                    key: values[column]
                    for key, values in properties.items()
                    if values and column in values
                },
            )
            for column in names
        }
        return cls(name, source, columns=columns, **limits)

    def with_schema(self, schema: Mapping[str, str]) -> "Table":
        """This table with every column of its source. Names and types are public.

        Declared names match in any case, and take the source's spelling.

        >>> table = Table.declare("visits", bounds={"Cost": (0, 99)})
        >>> table.with_schema({"cost": "DOUBLE", "ward": "VARCHAR"}).columns["ward"].kind
        'text'
        """
        spelt = {name.lower(): name for name in schema}
        for name, where in self._named_columns():
            if name.lower() not in spelt:
                raise InvalidPolicy(
                    f"Table {self.name!r} has no column {name!r}. "
                    + suggest(name, schema, "Its columns are"),
                    where=where,
                )
        unit = None if self.unit is None else spelt[self.unit.lower()]
        if unit is not None:
            _check_unit_type(self.name, unit, schema[unit])
        declared = {name.lower(): column for name, column in self.columns.items()}
        untyped = is_untyped(self.source)
        columns = {
            name: declared.get(name.lower(), Column(name)).with_type(
                name, type_, untyped=untyped
            )
            for name, type_ in schema.items()
        }
        completed = replace(
            self,
            unit=unit,
            columns=columns,
            unit_column=self.unit_column and spelt[self.unit_column.lower()],
            unique=tuple(spelt[name.lower()] for name in self.unique),
        )
        object.__setattr__(completed, "address", self.address)
        return completed

    def _named_columns(self) -> list[tuple[str, tuple[str, ...]]]:
        """The columns that the policy names, and where."""
        named: list[tuple[str, tuple[str, ...]]] = [
            (name, ("columns", name)) for name in self.columns
        ]
        named += [] if self.unit is None else [(self.unit, ("unit",))]
        named += [] if self.unit_column is None else [(self.unit_column, ("unit_column",))]
        named += [] if self.path is None else [(self.path.column, ("unit_path",))]
        return [*named, *((name, ("unique",)) for name in self.unique)]


_PER_UNIT = ("max_groups_per_unit", "max_rows_per_unit_per_group")
_LIMITS = ("unit", "neighbors", *_PER_UNIT, "row_ceiling", "expected_rows")
_UNITS = ("unit_column", "unit_path", "unique")
_REST = ("public", "malformed", "budget", "version", "sample", *_UNITS)


def _or_one(limit: Any) -> Any:
    return 1 if limit is None else limit


def _check_declared(properties: Mapping[str, Any], limits: Mapping[str, Any]) -> None:
    """Refuses unknown options, and column properties that are not mappings."""
    known = (*properties, *_LIMITS, *_REST)
    for option in limits:
        if option not in known:
            raise InvalidParameter(
                f"Unknown option `{option}` of a table. "
                + suggest(option, known, "The options are")
            )
    examples = {"bounds": "(0, 100)", "step": "0.01", "keys": '["A", "B"]', "kind": '"date"'}
    examples["length"] = "5"
    for key, values in properties.items():
        if values is not None and not isinstance(values, Mapping):
            raise InvalidPolicy(
                f"`{key}` must map names of columns to their {key}, for example   "
                f'{key}={{"name": {examples[key]}}}. Found {values!r}.',
                where=(key,),
            )


def _find_address(source: Any) -> str:
    """Where the rows come from, as it is now, without secrets; a random name for a frame."""
    if not isinstance(source, str):
        return f"frame {secrets.token_hex(16)}"
    try:
        return public_address(source)
    except ValueError:  # it cannot be opened either, and opening says why
        return source


def _check_malformed(choice: str) -> str:
    if choice in get_args(Malformed):
        return choice
    raise InvalidPolicy(
        f'`malformed` must be "refuse" or "skip". Found {choice!r}.',
        where=("malformed",),
    )


def _check_name(name: str) -> str:
    try:
        compared_name(name)
    except ValueError as problem:
        raise InvalidPolicy(f"The name of a table {problem}.") from None
    if name.startswith("("):  # as the names of what an engine holds beside the tables
        raise InvalidPolicy(
            f"The name of a table may not begin with a bracket. Found {name!r}."
        )
    return name


def _check_unit(
    name: str, unit: str | None, limits: Mapping[str, int | None], public: bool
) -> None:
    if unit is not None and not (isinstance(unit, str) and unit):
        raise InvalidPolicy(
            "`unit` must be the name of the column that identifies the privacy unit, such as "
            f'"patient". Found {unit!r}.',
            where=("unit",),
        )
    if public and unit is not None:
        raise InvalidPolicy(
            f"Table {name!r} is `public` and has a `unit`. A public table is not protected: "
            "remove one of the two.",
            where=("public",),
        )
    for key, limit in limits.items():
        if unit is None and limit not in (None, 1):
            raise InvalidPolicy(
                f"Table {name!r}: `{key}` limits what one unit contributes, but without a "
                "`unit` each row is a unit and counts once. Name the column that identifies a "
                f'person, for example   unit = "patient"   or remove `{key}`.',
                where=(key,),
            )


def _check_unit_type(table: str, unit: str, type_: str) -> None:
    if kind_of_type(type_) is None:
        raise InvalidPolicy(
            f"Table {table!r}: the unit {unit} has the type {type_}. A unit must be a number, "
            "text, boolean, date or timestamp. Convert it in the source.",
            where=("unit",),
        )


def _check_integer(key: str, value: int) -> int:
    return _check_at(key, lambda: whole(value, key))


def _check_at(key: str, check: Callable[[], T]) -> T:
    """The result of a check. Its error becomes an error of the policy, at that key."""
    try:
        return check()
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=(key,)) from None


def _check_names(table: str, columns: dict[str, Column]) -> dict[str, Column]:
    seen: dict[str, str] = {}
    for name in columns:
        if name.lower() in seen:
            raise InvalidPolicy(
                f"Table {table!r} declares the columns {seen[name.lower()]!r} and {name!r}, "
                "which are the same in SQL: it ignores upper and lower case. Keep one of them.",
                where=("columns", name),
            )
        seen[name.lower()] = name
    return columns
