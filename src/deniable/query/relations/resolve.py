"""Relations looked up in a policy: every name found, and what ties people together refused."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from deniable.errors import InvalidQuery
from deniable.policy import Policy, Table
from deniable.policy.suggestions import suggest
from deniable.query.language.expressions import aggregates_in, check_sizes
from deniable.query.language.question import Question
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Derived,
    Expression,
    Join,
    Named,
    Relation,
    Selection,
    Star,
    TableRef,
    UnionAll,
)
from deniable.query.relations.grouping import group_view
from deniable.query.relations.joins import JoinedRows, join_views
from deniable.query.relations.row_numbers import NumberedRows
from deniable.query.relations.row_origin import RowOrigin, hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.subqueries import Rewrite, join_subqueries
from deniable.query.relations.unions import unite_views
from deniable.query.relations.views import RelationView, ViewColumn

_MOST = 50  # tables and sub-queries of one question
_MOST_CROSSED = 2  # joins of each row with all of another table: rows grow like its powers


@dataclass(slots=True)
class Resolver:
    """Looks up the relations of one question."""

    policy: Policy
    _met: int = field(default=0)
    _crossed: int = field(default=0)

    def resolve_relation(self, relation: Relation) -> RelationView:
        """What a relation means."""
        self._met += 1
        if self._met > _MOST:
            raise InvalidQuery(f"The question reads too many tables: at most {_MOST}.")
        if isinstance(relation, TableRef):
            return self._table(relation)
        if isinstance(relation, Join):
            return self._join(relation)
        assert isinstance(relation, Derived)
        query = relation.query
        made = (
            self._resolve_union(query)
            if isinstance(query, UnionAll)
            else self.resolve_selection(query)
        )
        return _renamed(made, relation.columns).rename_table(relation.alias)

    def _table(self, ref: TableRef) -> RelationView:
        table = self.table(ref.name)
        return RelationView.of_scope(_scope(table), ref.alias or table.name)

    def table(self, name: str) -> Table:
        """The table of that name, in any case of letters."""
        by_name = {one.lower(): table for one, table in self.policy.tables.items()}
        table = by_name.get(name.lower())
        if table is None:
            raise InvalidQuery(
                f"There is no table {name}. "
                + suggest(name, self.policy.tables, "The policy declares")
            )
        return table

    def _join(self, join: Join) -> RelationView:
        left, right = (
            self.number_rows(self.resolve_relation(one)) for one in (join.left, join.right)
        )
        names = {column.table.lower() for column in left.columns if column.table is not None}
        twice = next((i.table for i in right.columns if (i.table or "").lower() in names), None)
        if twice is not None:
            raise InvalidQuery(f"FROM has {twice} twice: call one of them something else, AS.")
        using = []
        names_alike = _alike(left, right) if join.natural else join.using
        for name in names_alike:
            sides = left.item(ColumnRef(name)), right.item(ColumnRef(name))
            using.append((left.columns.index(sides[0]), right.columns.index(sides[1])))
        made = join_views(left, right, join.kind, join.on, using=using)
        self._crossed += (
            isinstance(made.scope.source, JoinedRows) and not made.scope.source.keyed
        )
        if self._crossed > _MOST_CROSSED:
            raise InvalidQuery(
                "Too many tables are joined on nothing that is equal, so that each row meets "
                f"all of theirs: at most {_MOST_CROSSED} may be. Join the others ON a.x = b.x."
            )
        return made

    def number_rows(self, view: RelationView) -> RelationView:
        """The view with a number for each row, where each row is protected on its own."""
        origin, table = view.scope.origin, view.scope.table
        if not view.private or table.unit is not None:
            return view
        name = f"numbered {table.name}"
        while name.lower() in map(str.lower, self.policy.tables):
            name += "'"
        source = NumberedRows(table, name)
        known = Table(
            table.name,
            unit=hidden_name("row", table.columns),
            neighbors=table.neighbors,
            row_ceiling=table.row_ceiling,
            expected_rows=table.expected_rows,
            columns=table.columns,
        )
        return replace(view, scope=Scope(known, source, replace(origin, numbered=(source,))))

    def _resolve_union(self, union: UnionAll) -> RelationView:
        parts = [self.number_rows(self.resolve_selection(part)) for part in union.parts]
        return unite_views(tuple(parts))

    def resolve_selection(self, query: Selection) -> RelationView:
        """A sub-query: expressions named anew, kept rows, and groups where it makes some."""
        parts = [
            named.expression
            for named in (*query.outputs, *query.keys)
            if not isinstance(named, Star)
        ]
        parts += [] if query.where is None else [query.where]
        view, rewrite = join_subqueries(self, self.resolve_relation(query.source), parts)
        query = _rewritten(query, rewrite)
        outputs = list(_outputs(view, query))
        where = None if query.where is None else view.resolve(query.where)
        view = view.filter(where)
        asked = list(
            dict.fromkeys(a for output in outputs for a in aggregates_in(output.expression))
        )
        having = None if query.having is None else view.resolve(query.having)
        if having is not None:
            asked += [
                aggregate for aggregate in aggregates_in(having) if aggregate not in asked
            ]
        keys = [replace(key, expression=view.resolve(key.expression)) for key in query.keys]
        if query.distinct:
            if asked or keys:
                raise InvalidQuery("DISTINCT beside GROUP BY or aggregates: leave it out.")
            keys = outputs
        if not (keys or asked):
            items = tuple(
                ViewColumn(None, output.name, output.expression) for output in outputs
            )
            return replace(view, columns=items)
        return _in_groups(view, keys, asked, outputs, having)


def resolve_question(question: Question, policy: Policy) -> tuple[Question, Scope]:
    """The question over the rows that it reads, every name spelt as they spell it."""
    relation = question.table
    resolver = Resolver(policy)
    view = resolver.resolve_relation(
        TableRef(relation) if isinstance(relation, str) else relation
    )
    parts = [one.expression for one in (*question.keys, *question.outputs)]
    parts += [] if question.where is None else [question.where]
    check_sizes([*parts, question.having, *(one for one, _ in question.order)])
    view, rewrite = join_subqueries(resolver, view, parts)
    if not view.private:
        raise InvalidQuery(
            f"Table {view.scope.table.name} is public: read it as it is, at no cost."
        )

    def over(expression: Expression) -> Expression:
        return view.resolve(rewrite(expression))

    def named(one: Named) -> Named:
        return replace(one, expression=over(one.expression))

    kept = view.filter(None if question.where is None else over(question.where))
    return replace(
        question,
        table=view.scope.table.name,
        where=kept.where,
        keys=tuple(named(key) for key in question.keys),
        outputs=tuple(named(output) for output in question.outputs),
        having=None if question.having is None else over(question.having),
        order=tuple((over(one), down) for one, down in question.order),
    ), view.scope


def _renamed(view: RelationView, names: tuple[str, ...]) -> RelationView:
    """The view with its first columns called anew."""
    if len(names) > len(view.columns) or len({name.lower() for name in names}) < len(names):
        raise InvalidQuery(
            f"({', '.join(names)}) names {len(names)} columns of a sub-query that has "
            f"{len(view.columns)}: as many at most, each once."
        )
    first = (replace(one, name=name) for one, name in zip(view.columns, names, strict=False))
    items = (*first, *view.columns[len(names) :])
    if len({item.name.lower() for item in items}) < len(items):
        raise InvalidQuery(f"({', '.join(names)}): another column has one of these names.")
    return replace(view, columns=items)


def _alike(left: RelationView, right: RelationView) -> list[str]:
    """The columns of NATURAL JOIN."""
    other = {column.name.lower() for column in right.columns if not column.hidden}
    found = dict.fromkeys(
        column.name
        for column in left.columns
        if not column.hidden and column.name.lower() in other
    )
    if not found:
        raise InvalidQuery("NATURAL JOIN: no column is called alike in both. Use JOIN ... ON.")
    return list(found)


def _scope(table: Table) -> Scope:
    if table.public:
        return Scope(table, None, RowOrigin(public=(table.name,)))
    unit = None if table.unit is None else table.columns.get(table.unit)
    kind = None
    if unit is not None and unit.integer:
        kind = "bigint" if unit.narrow else "int128"
    elif unit is not None and unit.kind == "text":
        kind = "text"
    limits = table.max_groups_per_unit, table.max_rows_per_unit_per_group
    return Scope(
        table, None, RowOrigin((table.name,), (), (), table.unit, kind, False, *limits)
    )


def _rewritten(query: Selection, rewrite: Rewrite) -> Selection:
    def named(one: Named) -> Named:
        return replace(one, expression=rewrite(one.expression))

    return replace(
        query,
        outputs=tuple(
            output if isinstance(output, Star) else named(output) for output in query.outputs
        ),
        keys=tuple(map(named, query.keys)),
        where=None if query.where is None else rewrite(query.where),
        having=None if query.having is None else rewrite(query.having),
    )


def _outputs(view: RelationView, query: Selection) -> Iterator[Named]:
    seen: set[str] = set()
    for one in query.outputs:
        if isinstance(one, Named):
            found = [Named(one.name, view.resolve(one.expression))]
        else:
            found = [Named(item.name, item.expression) for item in _starred(view, one)]
        for named in found:
            if named.name.lower() in seen:
                raise InvalidQuery(
                    f"Two columns of a sub-query are called {named.name}: rename one with AS."
                )
            seen.add(named.name.lower())
            yield named


def _starred(view: RelationView, star: Star) -> list[ViewColumn]:
    found = [
        column
        for column in view.columns
        if not column.hidden
        and (star.table is None or (column.table or "").lower() == star.table.lower())
    ]
    if not found:
        raise InvalidQuery(f"FROM has no table {star.table}.")
    return found


def _in_groups(
    view: RelationView,
    keys: list[Named],
    asked: list[Aggregate],
    outputs: list[Named],
    having: Expression | None,
) -> RelationView:
    """Groups, with each output over their keys and aggregates."""
    shown = {output.expression: output.name for output in outputs}
    named: list[Named] = []
    for key in {one.expression: one for one in keys}.values():
        name = shown.get(key.expression, key.name)
        while name.lower() in {one.name.lower() for one in named}:
            name += "'"
        named.append(Named(name, key.expression))
    made = group_view(view, named, asked)
    places = dict(
        zip(
            [one.expression for one in named] + list(asked),
            [column.expression for column in made.columns],
            strict=True,
        )
    )

    def over(expression: Expression) -> Expression:
        return made.scope.resolve(_replaced(expression, places))

    items = tuple(ViewColumn(None, output.name, over(output.expression)) for output in outputs)
    kept = made if having is None else made.filter(over(having))
    return replace(kept, columns=items)


def _replaced(expression: Expression, places: dict[Expression, Expression]) -> Expression:
    if expression in places:
        return places[expression]
    if isinstance(expression, Call):
        inner = tuple(_replaced(argument, places) for argument in expression.arguments)
        return Call(expression.name, inner)
    if isinstance(expression, ColumnRef):
        raise InvalidQuery(
            f"{expression} stands outside of an aggregate and is not grouped by, in a "
            f"sub-query: use MAX({expression}) or GROUP BY {expression}."
        )
    return expression
