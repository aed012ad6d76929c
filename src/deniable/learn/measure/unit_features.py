"""Features that are computed from a unit's rows in another table: visits of each patient.

The other table is of the same privacy unit, and its rows are grouped by it. So all that one
unit changes is its own features, and a step of learning moves by no more than without them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import decimal_text
from deniable.policy import Column, Table
from deniable.query.language.parse import parse, parse_tree
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import ColumnRef, Join, Relation
from deniable.query.plan.quoting import quote_name
from deniable.release.asking.builder_steps import BuiltQuestion


@dataclass(frozen=True, slots=True)
class FeaturedTable(BuiltQuestion):
    """A protected table with features of its units from another one."""

    joined: Relation
    other: str
    columns: Mapping[str, Column]


def with_features(
    table: BuiltQuestion, sql: str, *, bounds: Mapping[str, tuple[Any, Any]]
) -> FeaturedTable:
    """A protected table with more columns: what `sql` says about each unit.

    `sql` groups another table of the same unit by it, and selects the unit and aggregates with
    names. `bounds` are those of each of them: values are clipped to them. A unit without rows
    there has NULL, which is a cell of its own.

    >>> import deniable as dp
    >>> from deniable.policy import Policy, Table
    >>> from deniable.release.session.connecting import connect
    >>> import pyarrow as pa
    >>> who = list(range(400))
    >>> people = pa.table({"person": who, "ill": [person % 2 == 0 for person in who]})
    >>> visits = pa.table({"person": [person for person in who for _ in range(1 + person % 2)]})
    >>> limit = {"unit": "person", "max_rows_per_unit_per_group": 5}
    >>> tables = [Table.declare("people", people, unit="person")]
    >>> tables.append(Table.declare("visits", visits, **limit))
    >>> with connect(Policy(tables, epsilon=1), dp.Session) as session:
    ...     rows = with_features(
    ...         session.table("people"),
    ...         "SELECT person, COUNT(*) AS visits FROM visits GROUP BY person",
    ...         bounds={"visits": (0, 5)},
    ...     )
    ...     model = dp.learn.NaiveBayes(epsilon=1).fit(rows, target="ill")
    >>> model.predict({"visits": [1, 2]}).tolist()
    [True, False]
    """
    question = parse(sql)
    own = _find(table, table.builder.table)
    if not isinstance(question.table, str):
        raise InvalidParameter(
            "Features come from one table, grouped by the unit. Nothing was spent."
        )
    other = _find(table, question.table)
    _check_tables(own, other)
    names = _read_names(question, own, other, bounds)
    unit, features = names[0], names[1:]
    columns = {name: _column(name, bounds) for name in features}
    joined = _join(own, sql, unit, columns)
    return FeaturedTable(table.session, table.builder, joined, other.name, columns)


def _join(own: Table, sql: str, unit: str, columns: Mapping[str, Column]) -> Relation:
    """The table with the features of each unit, clipped to their bounds."""
    shown = [quote_name(unit)]
    for name, column in columns.items():
        low, high = map(decimal_text, column.bounds or ())
        shown.append(f"CLAMP({quote_name(name)}, {low}, {high}) AS {quote_name(name)}")
    text = parse_tree(sql).sql("duckdb", comments=False)  # a comment would hide what follows
    inner = f"SELECT {', '.join(shown)} FROM ({text}) AS features"
    joined = parse(
        f"SELECT COUNT(*) AS n FROM {quote_name(own.name)} AS a LEFT JOIN ({inner}) AS b "
        f"ON a.{quote_name(str(own.id_column))} = b.{quote_name(unit)}"
    ).table
    assert isinstance(joined, Join)
    return joined


def _find(table: BuiltQuestion, name: str) -> Table:
    tables = {
        own.lower(): policy_table for own, policy_table in table.session.policy.tables.items()
    }
    if name.lower() not in tables:
        raise InvalidParameter(f"This session has no table {name!r}.")
    return tables[name.lower()]


def _check_tables(own: Table, other: Table) -> None:
    """Refuses tables that are not of one unit, whose ids they hold."""
    units = own.unit, other.unit
    same = all(units) and str(own.unit).lower() == str(other.unit).lower()
    if not same or own.id_column is None or other.id_column is None or own.name == other.name:
        raise InvalidParameter(
            f"{own.name} and {other.name} must be two tables of one privacy unit, with its "
            "column. Nothing was spent."
        )


def _read_names(
    question: Question, own: Table, other: Table, bounds: Mapping[str, Any]
) -> list[str]:
    """The name of the unit in the question, and those of the features."""
    unit = ColumnRef(str(other.id_column))
    keys = [column for column in question.keys if _is(column.expression, unit)]
    unit_names = [column.name for column in question.outputs if _is(column.expression, unit)]
    names = [column.name for column in question.outputs if column.name not in unit_names]
    if len(unit_names) != 1 or len(keys) != 1 or len(question.keys) != 1 or not names:
        raise InvalidParameter(
            f"Select {unit.name} and aggregates, GROUP BY {unit.name}, for example   SELECT "
            f"{unit.name}, COUNT(*) AS {other.name}_count FROM {other.name} GROUP BY "
            f"{unit.name}. Nothing was spent."
        )
    taken = {name.lower() for name in own.columns} & {name.lower() for name in names}
    if taken or {name.lower() for name in bounds} != {name.lower() for name in names}:
        raise InvalidParameter(
            f"`bounds` has one pair for each feature, {', '.join(names)}; and none is named "
            f"as a column of {own.name}. Found bounds of {', '.join(bounds) or 'none'}. "
            "Nothing was spent."
        )
    return [*unit_names, *names]


def _is(expression: Any, unit: ColumnRef) -> bool:
    return isinstance(expression, ColumnRef) and expression.name.lower() == unit.name.lower()


def _column(name: str, bounds: Mapping[str, Any]) -> Column:
    own = {key.lower(): ends for key, ends in bounds.items()}[name.lower()]
    return Column(name, bounds=own).with_type(name, "DOUBLE")
