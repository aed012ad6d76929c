"""What each name in a SELECT means: a column of FROM, or an output by its alias.

The rules are DuckDB's, and a test compares generated questions with DuckDB's own answers.

| clause | a name means |
|---|---|
| WHERE | a column, else an output |
| SELECT | a column, else an output to its left |
| GROUP BY | a column, else an output; a whole number alone is the position of an output |
| HAVING | a column that is grouped by, else an output; inside an aggregate, a column |
| ORDER BY | alone: an output, else a column; in a larger expression: a column, else an output |

A name with a table in front is always a column. If several outputs have the name, the last one
counts. Upper and lower case are the same. A sub-query has rules and outputs of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from deniable.errors import InvalidQuery
from deniable.exact.suggestions import pluralize
from deniable.query.language.expressions import (
    aggregates_in,
    check_sizes,
    replace_columns,
)
from deniable.query.language.question import Question
from deniable.query.language.sql_selects import output_name
from deniable.query.language.syntax_tree import (
    Call,
    ColumnRef,
    Expression,
    Literal,
    Named,
    Selection,
    Star,
)
from deniable.query.relations.views import RelationView, ViewColumn

Asked = TypeVar("Asked", Question, Selection)


def resolve_names(query: Asked, view: RelationView) -> Asked:
    """The question or sub-query with every alias replaced by what it stands for. All names
    that remain are columns of the view."""
    names = _Names(view, _read_outputs(query.outputs, view))
    parts: dict[str, object] = {
        "outputs": names.outputs,
        "where": None if query.where is None else names.in_where(query.where),
        "keys": names.keys(query),
        "by_all": False,
        "having": None if query.having is None else names.in_having(query.having, query),
    }
    if isinstance(query, Question):
        parts["outputs"] = _number_names(names.outputs)
        parts["order"] = tuple((names.in_order(by), down) for by, down in query.order)
    elif query.qualify is not None:
        parts["qualify"] = names.column_first(query.qualify)
    return replace(query, **parts)  # type: ignore[arg-type]


def resolve_where(query: Selection, view: RelationView) -> Expression | None:
    """The condition of a sub-query whose other names may belong to an outer question."""
    outputs = tuple(output for output in query.outputs if isinstance(output, Named))
    return None if query.where is None else _Names(view, outputs).in_where(query.where)


def _read_outputs(listed: Sequence[Named | Star], view: RelationView) -> tuple[Named, ...]:
    """The outputs without stars, and with aliases to their left replaced."""
    outputs: list[Named] = []
    last = {
        column.name.lower(): place
        for place, column in enumerate(listed)
        if isinstance(column, Named)
    }
    left: list[Named] = []  # only the last output of a name can be used
    for place, output in enumerate(listed):
        if isinstance(output, Star):
            columns = _expand_star(view, output)
            outputs += (
                Named(column.name, ColumnRef(column.name, column.table)) for column in columns
            )
            continue
        expression = _Names(view, tuple(left)).column_first(output.expression)
        check_sizes([expression])  # each may use the one before it twice
        outputs.append(replace(output, expression=expression))
        left += outputs[-1:] if last[output.name.lower()] == place else []
    return tuple(outputs)


def _number_names(outputs: Sequence[Named]) -> tuple[Named, ...]:
    """The outputs under names that differ: the second `n` is `n_2`."""
    taken = {output.name.lower() for output in outputs}
    seen: set[str] = set()
    numbered = []
    for output in outputs:
        name, number = output.name, 1
        while name.lower() in seen or (number > 1 and name.lower() in taken):
            number += 1
            name = f"{output.name}_{number}"
        seen.add(name.lower())
        numbered.append(replace(output, name=name))
    return tuple(numbered)


def _expand_star(view: RelationView, star: Star) -> list[ViewColumn]:
    columns = [
        column
        for column in view.columns
        if not column.hidden
        and (star.table is None or (column.table or "").lower() == star.table.lower())
    ]
    if not columns:
        raise InvalidQuery(f"FROM has no table {star.table}. Name a table or alias of FROM.")
    return columns


@dataclass(frozen=True, slots=True)
class _Names:
    """The columns and the outputs that a clause may name."""

    view: RelationView
    outputs: tuple[Named, ...]

    def _aliases(self) -> Mapping[str, Expression]:
        return {output.name.lower(): output.expression for output in self.outputs}

    def column_first(self, expression: Expression) -> Expression:
        """Columns, else outputs, also inside aggregates."""
        aliases = self._aliases()

        def rename(ref: ColumnRef) -> Expression:
            if ref.table is not None or self.view.find(ref) is not None:
                return ref
            return aliases.get(ref.name.lower(), ref)

        return replace_columns(expression, rename)

    def _without_aggregates(self, expression: Expression, clause: str) -> Expression:
        if aggregates_in(expression):
            raise InvalidQuery(
                f"{clause} {expression} uses an aggregate, which is known only after the rows "
                "are grouped. Use a column there; conditions on aggregates belong in HAVING."
            )
        return expression

    def in_where(self, condition: Expression) -> Expression:
        """Columns, else outputs that are not aggregates."""
        return self._without_aggregates(self.column_first(condition), "WHERE")

    def keys(self, query: Question | Selection) -> tuple[Named, ...]:
        """What the rows are grouped by; DISTINCT without GROUP BY groups by all outputs."""
        plain = [output for output in self.outputs if not aggregates_in(output.expression)]
        rows_only = query.distinct and len(plain) == len(self.outputs) and not query.keys
        if query.by_all or rows_only:
            return tuple(dict.fromkeys(plain))
        keys = dict.fromkeys(self._key(key) for key in query.keys)
        if query.distinct:
            self._check_distinct({self._canonical(key.expression) for key in keys})
        return tuple(keys)

    def _key(self, key: Named) -> Named:
        expression = key.expression
        if isinstance(expression, Literal) and not isinstance(expression.value, str):
            expression = self._output_at(expression, "GROUP BY")
        else:
            expression = self.column_first(expression)
        self._without_aggregates(expression, "GROUP BY")
        selected = (output.name for output in self.outputs if output.expression == expression)
        return Named(next(selected, None) or output_name(expression), expression)

    def _check_distinct(self, keys: set[Expression]) -> None:
        """Refuses DISTINCT where several groups could have the same row in the answer."""
        if keys - {self._canonical(output.expression) for output in self.outputs}:
            raise InvalidQuery(
                "SELECT DISTINCT beside GROUP BY needs every grouping column among its "
                "outputs: then the rows are distinct anyway. Select them all, or remove "
                "DISTINCT."
            )

    def _output_at(self, place: Literal, clause: str) -> Expression:
        """The output at a position, counted from 1."""
        positions = range(1, len(self.outputs) + 1)
        if not isinstance(place.value, Fraction) or place.value not in positions:
            raise InvalidQuery(
                f"{clause} {place}: There is no such position. The question selects "
                f"{pluralize(len(self.outputs), 'column')}."
            )
        return self.outputs[int(place.value) - 1].expression

    def in_having(self, condition: Expression, query: Question | Selection) -> Expression:
        """A column that is grouped by, else an output, else a column; inside aggregates only
        columns. DuckDB does not know yet what GROUP BY ALL groups by: there, outputs come
        first."""
        aliases = self._aliases()
        keys = () if query.by_all else self.keys(query)
        grouped = {self._canonical(key.expression) for key in keys}

        def resolve(part: Expression) -> Expression:
            if isinstance(part, Call):
                return Call(part.name, tuple(map(resolve, part.arguments)))
            if not isinstance(part, ColumnRef) or part.table is not None:
                return part
            column = self.view.find(part)
            if column is not None and column.expression in grouped:
                return part
            return aliases.get(part.name.lower(), part)

        return resolve(condition)

    def _canonical(self, expression: Expression) -> Expression:
        """The expression over the columns of the rows, so that `t.a` equals `a`."""
        return replace_columns(expression, lambda ref: self.view.column(ref).expression)

    def in_order(self, by: Expression) -> Expression:
        """Alone: a position, an output, else a column; otherwise columns, else outputs."""
        if isinstance(by, Literal):
            return self._output_at(by, "ORDER BY")
        if isinstance(by, ColumnRef) and by.table is None:
            alias = self._aliases().get(by.name.lower())
            return by if alias is None else alias
        return self.column_first(by)
