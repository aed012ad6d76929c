"""What a model is trained on: a protected table, or arrays and frames through a session of
their own.

Arrays and frames become one table, `data`. Which values are there decides nothing: numbers need
declared bounds, texts declared keys, and classes are declared too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from deniable.engines.opening import open_engine
from deniable.errors import InvalidParameter
from deniable.learn.measure.array_columns import declared_kinds, read_column, read_columns
from deniable.learn.measure.unit_features import FeaturedTable
from deniable.ledger.accounts import PartPath
from deniable.ledger.ledger import Ledger
from deniable.policy import Policy, Table
from deniable.policy.column import kind_of_keys, to_tuple
from deniable.query.language.syntax_tree import Relation
from deniable.release.asking.builder_steps import BuiltQuestion
from deniable.release.session.connecting import connect
from deniable.release.session.door import Door

TARGET = "target"


@dataclass(frozen=True, slots=True)
class TrainingData:
    """A session, the table in it, and the name of the target (None without one)."""

    session: Door
    table: Table
    target: str | None
    own: bool  # whether the session was opened for this training, and ends with it
    paths: tuple[PartPath, ...] = ()  # the parts that are charged; empty: the whole table
    joined: Relation | None = None  # the table with features of another one, if there are any
    others: tuple[str, ...] = ()  # the other table, which is read and charged too

    @property
    def source(self) -> str | Relation:
        """What the rows are read from."""
        return self.joined or self.table.name

    @property
    def tables(self) -> list[str]:
        """The tables that a training reads."""
        return [self.table.name, *self.others]

    def charged_sessions(self) -> list[Door]:
        """The session, or one for each part that is charged."""
        if not self.paths:
            return [self.session]
        return [_charged_to(self.session, path) for path in self.paths]

    def close(self) -> None:
        """Ends a session of its own; the ledger that was given stays open."""
        if self.own:
            self.session._engine.close()


def _charged_to(session: Door, path: PartPath) -> Door:
    """The same session, whose charges are those of a part."""
    child = object.__new__(type(session))
    rows = replace(session._records.rows, path=path)
    child.__dict__ |= session.__dict__ | {"_records": replace(session._records, rows=rows)}
    return child


def protected(question: BuiltQuestion, target: str | None) -> TrainingData:
    """The rows of a protected table, with features of its units if there are any."""
    if isinstance(question, FeaturedTable):
        plain = protected(BuiltQuestion(question.session, question.builder), target)
        table = replace(plain.table, columns={**plain.table.columns, **question.columns})
        return replace(plain, table=table, joined=question.joined, others=(question.other,))
    builder = question.builder
    if builder.conditions or builder.keys:
        raise InvalidParameter(
            "A model is trained on a whole table: leave out where() and group_by(), or use "
            "a view. Nothing was spent."
        )
    session = question.session
    names = {name.lower(): name for name in session.policy.tables}
    if builder.table.lower() not in names:
        raise InvalidParameter(f"This session has no table {builder.table!r}.")
    table = session.policy.tables[names[builder.table.lower()]]
    if table.public:
        raise InvalidParameter(f"{table.name} is public: train any model on it, without noise.")
    return TrainingData(session, table, target, own=False)


def from_arrays(
    features: Any,
    target: Any,
    *,
    budget: tuple[Any, Any],
    ledger: Ledger | None,
    declared: Mapping[str, Any],
    bounds: tuple[Any, Any] | None = None,
    classes: Sequence[Any] | None = None,
    paths: tuple[PartPath, ...] = (),
) -> TrainingData:
    """A session about arrays or a frame. `declared` is what `Table.declare` takes; its bounds
    may be one pair for all features. `bounds` are those of the target."""
    unit = declared.get("unit")
    columns = read_columns(features, declared_kinds(declared.get("keys")), unit)
    if target is not None:
        if TARGET in {name.lower() for name in columns}:
            raise InvalidParameter(
                f"X has a column {TARGET!r}, and y gets this name in a training. Rename the "
                "column. Nothing was spent."
            )
        columns[TARGET] = target_column(target, classes)
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise InvalidParameter("X and y have different numbers of rows. Nothing was spent.")
    facts = dict(declared)
    if isinstance(facts.get("bounds"), tuple):
        others = {TARGET, *[name for name in columns if name.lower() == str(unit).lower()]}
        numbers = [
            column_name
            for column_name in columns
            if column_name not in others and _is_number(columns[column_name])
        ]
        facts["bounds"] = dict.fromkeys(numbers, facts["bounds"])
    if target is not None and bounds is not None:
        facts["bounds"] = {**facts.get("bounds", {}), TARGET: bounds}
    table = Table.declare("data", pa.table(columns), **facts)
    policy = Policy([table], epsilon=budget[0], delta=budget[1])
    if ledger is None:
        session: Door = connect(policy, Door)
    else:
        session = Door(policy, open_engine(policy), ledger)
    name = None if target is None else TARGET
    return TrainingData(session, session.policy.tables["data"], name, own=True, paths=paths)


def take(
    features: Any, rows: Any, keys: Mapping[str, Any] | None = None, unit: str | None = None
) -> "pa.Table":
    """Some rows of a matrix or frame, read as a training reads them."""
    return pa.table(read_columns(features, declared_kinds(keys), unit)).take(pa.array(rows))


def target_column(values: Any, classes: Sequence[Any] | None = None) -> Any:
    """The values of a target, as one column; objects are read as the classes are, else as
    numbers."""
    kind = None if classes is None else kind_of_keys(to_tuple(classes) or ()) or "number"
    return read_column(values, kind, TARGET)


def take_target(values: Any, rows: Any, classes: Sequence[Any] | None = None) -> Any:
    """Some rows of a target."""
    return target_column(values, classes).take(pa.array(rows))


def _is_number(column: Any) -> bool:
    kind = column.type
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )
