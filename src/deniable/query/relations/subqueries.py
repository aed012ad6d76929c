"""Sub-queries inside expressions, as joins: EXISTS, IN, and single values of an aggregate.

Each becomes a LEFT JOIN with groups that have one row for each key, so it adds no rows. Over
a public table the keys may be anything. Over a private one the unit must be among them, the
same on both sides: what is looked up is then that very unit's own.
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
from deniable.query.relations.views import RelationView

Rewrite: TypeAlias = Callable[[Expression], Expression]

_ROWS = Aggregate("count", None)
_ZERO = Literal(Fraction(0))


class RelationLookup(Protocol):
    """Looks up relations in a policy."""

    def resolve_relation(self, relation: Relation) -> RelationView:
        """What a relation means."""

    def number_rows(self, view: RelationView) -> RelationView:
        """The view with a number for each row, where each row is protected on its own."""


def join_subqueries(
    resolver: RelationLookup, view: RelationView, expressions: Iterable[Expression]
) -> tuple[RelationView, Rewrite]:
    """The view joined with every sub-query, and how expressions refer to them then."""
    found = dict.fromkeys(
        leaf for one in expressions for leaf in walk(one) if isinstance(leaf, SubQuery)
    )
    places: dict[Expression, Expression] = {}
    for one in found:
        view, places[one] = _SubqueryJoin(resolver, view, one, len(places)).join()

    def rewritten(expression: Expression) -> Expression:
        if expression in places:
            return places[expression]
        if isinstance(expression, Call):
            return Call(expression.name, tuple(map(rewritten, expression.arguments)))
        if isinstance(expression, Aggregate):
            two = expression.argument, expression.second
            one, other = (None if part is None else rewritten(part) for part in two)
            return replace(expression, argument=one, second=other)
        return expression

    return view, rewritten if places else lambda expression: expression


class _SubqueryJoin:
    """One sub-query on its way into FROM."""

    def __init__(
        self, resolver: RelationLookup, view: RelationView, one: SubQuery, place: int
    ) -> None:
        self.resolver, self.view, self.one = resolver, resolver.number_rows(view), one
        self.name = f"sub-query {place}"
        if one.query.keys or one.query.having is not None:
            raise InvalidQuery(
                f"{one} with GROUP BY or HAVING is not supported: JOIN it, in FROM."
            )

    def join(self) -> tuple[RelationView, Expression]:
        """The view with the sub-query beside it, and the expression that stands for it."""
        query, inner = self.one.query, self.resolver.resolve_relation(self.one.query.source)
        own, pairs = self._correlated(query, inner)
        selected = self._selected(query)
        inner, rewrite = join_subqueries(self.resolver, inner, [*own, *selected])
        condition = conjunction(map(rewrite, own))
        inner = inner.filter(None if condition is None else inner.resolve(condition))
        if self.one.kind == "in":
            assert self.one.argument is not None
            pairs.append((selected[0], self.one.argument))
        keys = [inner.resolve(rewrite(one)) for one, _ in pairs]
        self._check_unit(inner, keys, [one for _, one in pairs])
        value = inner.resolve(rewrite(selected[0])) if self.one.kind == "value" else None
        asked = [_ROWS] if value is None else aggregates_in(value)
        if not asked:
            raise InvalidQuery(
                f"{self.one} may be several values at once: select an aggregate, such as "
                "(SELECT MAX(...) FROM ...)."
            )
        names = [Named(f"key {i}", one) for i, one in enumerate(keys)]
        groups = group_view(inner, names, asked).rename_table(self.name, hidden=True)
        ends = [ColumnRef(column.name, self.name) for column in groups.columns]
        on = [Call("=", (outer, end)) for (_, outer), end in zip(pairs, ends, strict=False)]
        view = join_views(self.view, groups, "left", conjunction(on), unique=True)
        return view, self._stands_for(value, dict(zip(asked, ends[len(keys) :], strict=True)))

    def _stands_for(
        self, value: Expression | None, ends: dict[Aggregate, ColumnRef]
    ) -> Expression:
        if value is not None:
            return _over(value, ends)
        some = Call(">", (Call("coalesce", (ends[_ROWS], _ZERO)), _ZERO))
        if self.one.argument is None:
            return some
        unknown = Call("is null", (self.one.argument,))
        return Call("case", (unknown, Literal(None), some))

    def _selected(self, query: Selection) -> list[Expression]:
        if self.one.kind == "exists":
            return []
        if len(query.outputs) != 1 or not isinstance(query.outputs[0], Named):
            raise InvalidQuery(f"{self.one} must select one column.")
        return [query.outputs[0].expression]

    def _correlated(
        self, query: Selection, inner: RelationView
    ) -> tuple[list[Expression], list[tuple[Expression, Expression]]]:
        """The sub-query's own conditions, and what of it must equal what of the outside."""
        own: list[Expression] = []
        pairs: list[tuple[Expression, Expression]] = []
        for condition in conjuncts(query.where):
            if not self._outside(condition, inner):
                own.append(condition)
                continue
            sides = condition.arguments if isinstance(condition, Call) else ()
            if not isinstance(condition, Call) or condition.name != "=":
                raise self._entangled(condition)
            within = [side for side in sides if not self._outside(side, inner)]
            if len(within) != 1:
                raise self._entangled(condition)
            (outer,) = (side for side in sides if side is not within[0])
            if any(
                isinstance(leaf, ColumnRef) and inner.find(leaf) is not None
                for leaf in walk(outer)
            ):
                raise self._entangled(condition)
            pairs.append((within[0], outer))
        return own, pairs

    def _outside(self, expression: Expression, inner: RelationView) -> bool:
        """Whether an expression names a column that is not the sub-query's own."""
        return any(
            isinstance(leaf, ColumnRef)
            and inner.find(leaf) is None
            and self.view.find(leaf) is not None
            for leaf in walk(expression)
        )

    def _entangled(self, condition: Expression) -> InvalidQuery:
        return InvalidQuery(
            f"{condition} ties {self.one} to the question around it by more than an equality "
            "of one of its columns with something outside. JOIN the two instead."
        )

    def _check_unit(
        self, inner: RelationView, keys: list[Expression], outer: list[Expression]
    ) -> None:
        if not inner.private:
            return
        unit = self.view.unit
        for key, other in zip(keys, outer, strict=True):
            mine = unit is not None and key == inner.unit
            if mine and self.view.resolve(other) == unit:
                return
        name = inner.scope.origin.unit
        if name is not None and not self.view.private:
            raise InvalidQuery(
                f"{self.one} looks from the public rows of {self.view.scope.table.name} into "
                f"the private table {inner.scope.table.name}, where it would find somebody or "
                f"not. Ask about {inner.scope.table.name}, joined with "
                f"{self.view.scope.table.name}."
            )
        if name is None or unit is None:
            raise InvalidQuery(
                f"{self.one} looks into the private table {inner.scope.table.name}, where each "
                "row is protected on its own: nothing there can be looked up for another row. "
                "Ask about that table itself."
            )
        raise InvalidQuery(
            f"{self.one} looks at other people's rows of the private table "
            f"{inner.scope.table.name}. Tie it to the same person, in its WHERE: "
            f"{inner.scope.table.name}.{name} = ...{name} of the table outside."
        )


def _over(value: Expression, ends: dict[Aggregate, ColumnRef]) -> Expression:
    """The selected expression over the joined aggregates; nothing there counts as 0."""
    if isinstance(value, Aggregate):
        end = ends[value]
        return Call("coalesce", (end, _ZERO)) if value.name.startswith("count") else end
    if isinstance(value, Call):
        return Call(value.name, tuple(_over(argument, ends) for argument in value.arguments))
    if isinstance(value, ColumnRef):
        raise InvalidQuery(f"{value} stands outside of an aggregate, in a sub-query.")
    return value
