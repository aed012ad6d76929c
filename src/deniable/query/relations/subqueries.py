"""Sub-queries inside expressions, as joins: EXISTS, IN, and single values of an aggregate.

Each becomes a LEFT JOIN with groups that have one row for each key, so it adds no rows. For a
public table the keys may be anything. For a private table the unit must be one of the keys, and
equal on both sides. So each unit looks up only its own rows.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Protocol, TypeAlias

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import aggregates_in, conjunction, conjuncts, walk
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Named,
    Relation,
    Selection,
    SubQuery,
)
from deniable.query.relations.grouping import group_view
from deniable.query.relations.joins import join_views
from deniable.query.relations.names import resolve_where
from deniable.query.relations.views import RelationView

Rewrite: TypeAlias = Callable[[Expression], Expression]

_ROWS = Aggregate("count", None)
_ZERO = Literal(Fraction(0))


class RelationLookup(Protocol):
    """Looks up relations in a policy."""

    def resolve_relation(self, relation: Relation) -> RelationView:
        """The view of a relation."""

    def number_rows(self, view: RelationView) -> RelationView:
        """The view with a number for each row, if each row is a privacy unit."""


def join_subqueries(
    lookup: RelationLookup, view: RelationView, expressions: Iterable[Expression]
) -> tuple[RelationView, Rewrite]:
    """The view joined with every sub-query, and a function that makes expressions use it."""
    subqueries = dict.fromkeys(
        part
        for expression in expressions
        for part in walk(expression)
        if isinstance(part, SubQuery)
    )
    results: dict[Expression, Expression] = {}
    for subquery in subqueries:
        join = _SubqueryJoin(lookup, view, subquery, len(results))
        view, results[subquery] = join.join()

    def rewrite(expression: Expression) -> Expression:
        if expression in results:
            return results[expression]
        if isinstance(expression, Call):
            return Call(expression.name, tuple(map(rewrite, expression.arguments)))
        if isinstance(expression, Aggregate):
            first, second = (
                None if argument is None else rewrite(argument)
                for argument in (expression.argument, expression.second)
            )
            return replace(expression, argument=first, second=second)
        return expression

    return view, rewrite if results else lambda expression: expression


class _SubqueryJoin:
    """The join of a view with one sub-query."""

    def __init__(
        self, lookup: RelationLookup, view: RelationView, subquery: SubQuery, place: int
    ) -> None:
        self.lookup, self.view, self.subquery = lookup, lookup.number_rows(view), subquery
        self.name = f"sub-query {place}"
        if subquery.query.keys or subquery.query.having is not None:
            raise InvalidQuery(
                f"{subquery} with GROUP BY or HAVING is not supported. JOIN the sub-query in "
                "FROM instead."
            )
        if subquery.query.qualify is not None:
            raise InvalidQuery(
                f"{subquery} with QUALIFY or DISTINCT ON is not supported. Put these into its "
                "FROM: IN (SELECT patient FROM (SELECT * FROM visits QUALIFY ...) AS v)."
            )

    def join(self) -> tuple[RelationView, Expression]:
        """The view joined with the sub-query, and the expression that replaces it."""
        query = self.subquery.query
        inner = self.lookup.resolve_relation(query.source)
        query = replace(query, where=resolve_where(query, inner))
        own, pairs = self._split_conditions(query, inner)
        selected = self._selected(query)
        inner, rewrite = join_subqueries(self.lookup, inner, [*own, *selected])
        condition = conjunction(map(rewrite, own))
        inner = inner.filter(None if condition is None else inner.resolve(condition))
        if self.subquery.kind == "in":
            assert self.subquery.argument is not None
            pairs.append((selected[0], self.subquery.argument))
        keys = [inner.resolve(rewrite(own_side)) for own_side, _ in pairs]
        self._check_unit(inner, keys, [outer for _, outer in pairs])
        value = inner.resolve(rewrite(selected[0])) if self.subquery.kind == "value" else None
        aggregates = [_ROWS] if value is None else aggregates_in(value)
        if not aggregates:
            raise InvalidQuery(
                f"{self.subquery} may return several values. Select an aggregate, such as "
                "(SELECT MAX(...) FROM ...)."
            )
        names = [Named(f"key {i}", key) for i, key in enumerate(keys)]
        groups = group_view(inner, names, aggregates).rename_table(self.name, hidden=True)
        columns = [ColumnRef(column.name, self.name) for column in groups.columns]
        on = [
            Call("=", (outer, column))
            for (_, outer), column in zip(pairs, columns, strict=False)
        ]
        view = join_views(self.view, groups, "left", conjunction(on), unique=True)
        results = dict(zip(aggregates, columns[len(keys) :], strict=True))
        return view, self._replacement(value, results)

    def _replacement(
        self, value: Expression | None, results: dict[Aggregate, ColumnRef]
    ) -> Expression:
        """The expression that replaces the sub-query."""
        if value is not None:
            return _use_results(value, results)
        exists = Call(">", (Call("coalesce", (results[_ROWS], _ZERO)), _ZERO))
        if self.subquery.argument is None:
            return exists
        unknown = Call("is null", (self.subquery.argument,))
        return Call("case", (unknown, Literal(None), exists))

    def _selected(self, query: Selection) -> list[Expression]:
        if self.subquery.kind == "exists":
            return []
        if len(query.outputs) != 1 or not isinstance(query.outputs[0], Named):
            raise InvalidQuery(f"{self.subquery} must select exactly one column.")
        return [query.outputs[0].expression]

    def _split_conditions(
        self, query: Selection, inner: RelationView
    ) -> tuple[list[Expression], list[tuple[Expression, Expression]]]:
        """The sub-query's own conditions, and pairs (own, outer) that must be equal."""
        own: list[Expression] = []
        pairs: list[tuple[Expression, Expression]] = []
        for condition in conjuncts(query.where):
            if not self._uses_outer(condition, inner):
                own.append(condition)
                continue
            sides = condition.arguments if isinstance(condition, Call) else ()
            if not isinstance(condition, Call) or condition.name != "=":
                raise self._not_an_equality(condition)
            own_sides = [side for side in sides if not self._uses_outer(side, inner)]
            if len(own_sides) != 1:
                raise self._not_an_equality(condition)
            (outer,) = (side for side in sides if side is not own_sides[0])
            if any(
                isinstance(leaf, ColumnRef) and inner.find(leaf) is not None
                for leaf in walk(outer)
            ):
                raise self._not_an_equality(condition)
            pairs.append((own_sides[0], outer))
        return own, pairs

    def _uses_outer(self, expression: Expression, inner: RelationView) -> bool:
        """Whether an expression uses a column of the outer question."""
        return any(
            isinstance(leaf, ColumnRef)
            and inner.find(leaf) is None
            and self.view.find(leaf) is not None
            for leaf in walk(expression)
        )

    def _not_an_equality(self, condition: Expression) -> InvalidQuery:
        return InvalidQuery(
            f"{condition} links {self.subquery} to the outer question, and only equalities of "
            "its own columns with outer ones are supported. JOIN the two instead."
        )

    def _check_unit(
        self, inner: RelationView, keys: list[Expression], outer: list[Expression]
    ) -> None:
        if not inner.private:
            return
        unit = self.view.unit
        links: dict[Expression, str] = {
            ColumnRef(name): link for name, link in inner.scope.origin.keys
        }
        own: dict[Expression, str] = {
            ColumnRef(name): link for name, link in self.view.scope.origin.keys
        }
        for key, other in zip(keys, outer, strict=True):
            side = self.view.resolve(other)
            if unit is not None and key == inner.unit and side == unit:
                return
            if key in links and own.get(side) == links[key]:  # the same key, so the same unit
                return
        name, table = inner.scope.origin.unit, inner.scope.table.name
        if name is not None and not self.view.private:
            outer_table = self.view.scope.table.name
            raise InvalidQuery(
                f"{self.subquery} looks from the public table {outer_table} into the private "
                f"table {table}, so a public row would show who is there. Ask about {table}, "
                f"joined with {outer_table}."
            )
        if name is None or unit is None:
            raise InvalidQuery(
                f"{self.subquery} looks into the private table {table}, where each row is "
                "protected on its own, so no other row may depend on it. Ask about that table "
                "itself."
            )
        if self.subquery.kind == "value" and keys:
            raise self._no_constant(inner, keys, outer[0])
        raise InvalidQuery(
            f"{self.subquery} looks at other people's rows of the private table {table}. Link "
            f"it to the same person in its WHERE: {table}.{name} = ...{name} of the outer "
            "table."
        )

    def _no_constant(
        self, inner: RelationView, keys: list[Expression], outer: Expression
    ) -> InvalidQuery:
        """A value for each group of other people: it can be released, and then written out."""
        table, by = inner.scope.table.name, ", ".join(map(str, keys))
        selected = self._selected(self.subquery.query)
        value = ", ".join(str(inner.resolve(part)) for part in selected)
        return InvalidQuery(
            f"{self.subquery} looks at other people's rows of the private table {table}, so it "
            f"is not a constant. Ask for its values first: SELECT {by}, {value} FROM {table} "
            f"GROUP BY {by}. Then write them into the question: CASE {outer} WHEN ... THEN ... "
            "END."
        )


def _use_results(value: Expression, results: dict[Aggregate, ColumnRef]) -> Expression:
    """The selected expression over the joined aggregates. A count without a group is 0."""
    if isinstance(value, Aggregate):
        result = results[value]
        return Call("coalesce", (result, _ZERO)) if value.name.startswith("count") else result
    if isinstance(value, Call):
        inner = tuple(_use_results(argument, results) for argument in value.arguments)
        return Call(value.name, inner)
    if isinstance(value, ColumnRef):
        raise InvalidQuery(
            f"In a sub-query, {value} is outside an aggregate. Use MAX({value}) or another "
            "aggregate."
        )
    return value
