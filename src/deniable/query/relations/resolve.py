"""Relations looked up in a policy: names are resolved, and queries that mix units refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from deniable.errors import InvalidQuery
from deniable.exact.suggestions import pluralize, suggest
from deniable.policy import Policy, Table
from deniable.policy.unit_paths import path_tables
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
    Unnested,
)
from deniable.query.relations.grouping import group_view, narrow_to_groups
from deniable.query.relations.joins import JoinedRows, join_views
from deniable.query.relations.names import resolve_names
from deniable.query.relations.row_origin import NumberedRows, RowOrigin, hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.subqueries import Rewrite, join_subqueries
from deniable.query.relations.unions import unite_views
from deniable.query.relations.unit_windows import has_window, window_view
from deniable.query.relations.unnest import spread_over_groups, unnest_view
from deniable.query.relations.views import RelationView, ViewColumn

_MOST_RELATIONS = 50  # tables and sub-queries of one question
_MOST_CROSSED = 2  # joins of each row with all rows of a table: each multiplies the rows


@dataclass(slots=True)
class Resolver:
    """Looks up the relations of one question."""

    policy: Policy
    nan_is_null: bool = False  # in every table that is read
    _relations: int = field(default=0)
    _crossed: int = field(default=0)

    def resolve_relation(self, relation: Relation) -> RelationView:
        """The view of a relation."""
        self._relations += 1
        if self._relations > _MOST_RELATIONS:
            raise InvalidQuery(
                f"The question reads too many tables and sub-queries. At most "
                f"{_MOST_RELATIONS} are allowed."
            )
        if isinstance(relation, TableRef):
            return self._resolve_table(relation)
        if isinstance(relation, Join):
            return self._resolve_join(relation)
        if isinstance(relation, Unnested):
            rows = self.number_rows(self.resolve_relation(relation.source))
            return unnest_view(rows, relation)
        assert isinstance(relation, Derived)
        query = relation.query
        view = (
            self._resolve_union(query)
            if isinstance(query, UnionAll)
            else self.resolve_selection(query)
        )
        return _rename_columns(view, relation.columns).rename_table(relation.alias)

    def _resolve_table(self, ref: TableRef) -> RelationView:
        table = self.find_table(ref.name)
        along = path_tables(table, self.policy.tables)
        view = RelationView.of_scope(
            _table_scope(table, along, self.nan_is_null), ref.alias or table.name
        )
        columns = tuple(
            replace(column, expression=ColumnRef(str(table.unit)))
            if column.name == table.unit_column
            else column
            for column in view.columns
        )
        return replace(view, columns=columns)

    def find_table(self, name: str) -> Table:
        """The table of that name, in upper or lower case. The schema in front of a name counts
        only if the policy's own name has it too."""
        by_name = {key.lower(): table for key, table in self.policy.tables.items()}
        parts = name.lower().split(".")
        for first in range(len(parts)):
            table = by_name.get(".".join(parts[first:]))
            if table is not None:
                return table
        raise InvalidQuery(
            f"The policy has no table {name}. "
            + suggest(name.rpartition(".")[2], self.policy.tables, "Its tables are")
        )

    def _resolve_join(self, join: Join) -> RelationView:
        left, right = (
            self.number_rows(self.resolve_relation(side)) for side in (join.left, join.right)
        )
        names = {column.table.lower() for column in left.columns if column.table is not None}
        tables = (column.table for column in right.columns)
        twice = next((table for table in tables if (table or "").lower() in names), None)
        if twice is not None:
            raise InvalidQuery(
                f"FROM has the table {twice} twice. Give each an alias: {twice} AS a, {twice} "
                "AS b."
            )
        using = []
        for name in _common_names(left, right) if join.natural else join.using:
            sides = left.column(ColumnRef(name)), right.column(ColumnRef(name))
            using.append((left.columns.index(sides[0]), right.columns.index(sides[1])))
        view = join_views(left, right, join.kind, join.on, using=using)
        source = view.scope.source
        self._crossed += isinstance(source, JoinedRows) and not source.keyed
        if self._crossed > _MOST_CROSSED:
            raise InvalidQuery(
                "Too many tables are joined without an equality, so each row is joined with "
                f"all of their rows. At most {_MOST_CROSSED} such joins are allowed. Join the "
                "others ON a.x = b.x."
            )
        return view

    def number_rows(self, view: RelationView) -> RelationView:
        """The view with a number for each row, if each row is a privacy unit."""
        origin, table = view.scope.origin, view.scope.table
        if not view.private or table.unit is not None:
            return view
        name = f"numbered {table.name}"
        while name.lower() in map(str.lower, self.policy.tables):
            name += "'"
        source = NumberedRows(table, name)
        numbered = Table(
            table.name,
            unit=hidden_name("row", table.columns),
            neighbors=table.neighbors,
            row_ceiling=table.row_ceiling,
            expected_rows=table.expected_rows,
            columns=table.columns,
        )
        own = replace(origin, numbered=(source,))
        scope = Scope(numbered, source, own, self.nan_is_null)
        return replace(view, scope=scope)

    def _resolve_union(self, union: UnionAll) -> RelationView:
        parts = [self.number_rows(self.resolve_selection(part)) for part in union.parts]
        return unite_views(tuple(parts))

    def resolve_selection(self, query: Selection) -> RelationView:
        """The view of a sub-query: its named expressions, its filter and its groups."""
        view = self.resolve_relation(query.source)
        query = resolve_names(query, view)
        named = [part for part in (*query.outputs, *query.keys) if isinstance(part, Named)]
        parts = [part.expression for part in named]
        parts += [part for part in (query.where, query.qualify) if part is not None]
        view, rewrite = join_subqueries(self, view, parts)
        query = _rewrite_selection(query, rewrite)
        outputs = list(_resolve_outputs(view, query))
        where = None if query.where is None else view.resolve(query.where)
        view = view.filter(where)
        having = None if query.having is None else view.resolve(query.having)
        parts = [output.expression for output in outputs]
        parts += [] if having is None else [having]
        aggregates = list(dict.fromkeys(a for part in parts for a in aggregates_in(part)))
        keys = [replace(key, expression=view.resolve(key.expression)) for key in query.keys]
        if query.qualify is not None or any(
            has_window(named_output.expression) for named_output in outputs
        ):
            if keys or aggregates or not view.private:
                raise InvalidQuery(
                    "Windows are supported over private rows that are not grouped. Group "
                    "them in a sub-query of their own."
                )
            return window_view(view, outputs, query.qualify)
        if not (keys or aggregates):
            columns = (ViewColumn(None, output.name, output.expression) for output in outputs)
            return replace(view, columns=tuple(columns))
        return _resolve_groups(view, keys, aggregates, outputs, having)


def resolve_question(question: Question, policy: Policy) -> tuple[Question, Scope]:
    """The question over the columns of the rows that it reads, and their scope."""
    relation = question.table
    resolver = Resolver(policy, question.nan_is_null)
    view = resolver.resolve_relation(
        TableRef(relation) if isinstance(relation, str) else relation
    )
    question = resolve_names(question, view)
    parts = [named.expression for named in (*question.keys, *question.outputs)]
    parts += [] if question.where is None else [question.where]
    check_sizes([*parts, question.having, *(by for by, _ in question.order)])
    view, rewrite = join_subqueries(resolver, view, parts)
    if not view.private:
        raise InvalidQuery(
            f"Table {view.scope.table.name} is public, so it needs no private answer. Query "
            "its source directly, at no cost."
        )

    def resolve(expression: Expression) -> Expression:
        return view.resolve(rewrite(expression))

    def resolve_named(named: Named) -> Named:
        return replace(named, expression=resolve(named.expression))

    filtered = view.filter(None if question.where is None else resolve(question.where))
    keys = tuple(resolve_named(key) for key in question.keys)
    by = [key.expression for key in keys]
    return replace(
        question,
        table=view.scope.table.name,
        where=filtered.where,
        keys=keys,
        outputs=tuple(resolve_named(output) for output in question.outputs),
        having=None if question.having is None else resolve(question.having),
        order=tuple((resolve(by), down) for by, down in question.order),
    ), spread_over_groups(narrow_to_groups(view.scope, by), by)


def _rename_columns(view: RelationView, names: tuple[str, ...]) -> RelationView:
    """The view with new names for its first columns."""
    if len(names) > len(view.columns) or len({name.lower() for name in names}) < len(names):
        raise InvalidQuery(
            f"({', '.join(names)}) has {len(names)} names for a sub-query with "
            f"{pluralize(len(view.columns), 'column')}. Give at most one name per column, each "
            "once."
        )
    renamed = (
        replace(column, name=name) for column, name in zip(view.columns, names, strict=False)
    )
    columns = (*renamed, *view.columns[len(names) :])
    if names and len({column.name.lower() for column in columns}) < len(columns):
        raise InvalidQuery(
            f"({', '.join(names)}): Another column of the sub-query has one of these names. "
            "Choose other names."
        )
    return replace(view, columns=columns)


def _common_names(left: RelationView, right: RelationView) -> list[str]:
    """The columns of NATURAL JOIN."""
    other = {column.name.lower() for column in right.columns if not column.hidden}
    names = dict.fromkeys(
        column.name
        for column in left.columns
        if not column.hidden and column.name.lower() in other
    )
    if not names:
        raise InvalidQuery(
            "NATURAL JOIN: The two sides have no column name in common. Use JOIN ... ON."
        )
    return list(names)


def _table_scope(table: Table, along: Sequence[Table], nan_is_null: bool) -> Scope:
    """The rows of a table. The tables `along` the path to its unit are read, too."""
    if table.public:
        return Scope(table, None, RowOrigin(public=(table.name,)), nan_is_null)
    unit = None if table.unit is None else table.columns.get(table.unit)
    kind = None
    if unit is not None and unit.integer:
        kind = "bigint" if unit.narrow else "int128"
    elif unit is not None and unit.kind == "text":
        kind = "text"
    limits = table.max_groups_per_unit, table.max_rows_per_unit_per_group
    tables, single = (
        tuple(path_table.name for path_table in along),
        table.id_column in table.unique,
    )
    origin = RowOrigin(tables, (), (), table.unit, kind, single, *limits)
    if single:
        table = replace(table, max_groups_per_unit=1, max_rows_per_unit_per_group=1)
    return Scope(table, None, replace(origin, keys=_path_keys(table, along)), nan_is_null)


def _path_keys(table: Table, along: Sequence[Table]) -> tuple[tuple[str, str], ...]:
    """The columns of a table that hold keys of paths, and which keys."""
    keys = [(name, f"{table.name}.{name}".lower()) for name in table.unique]
    if table.path is not None:
        spelt = {name.lower(): name for name in table.columns}
        column = spelt[table.path.column.lower()]
        keys.append((column, f"{along[1].name}.{table.path.key}".lower()))
    return tuple(keys)


def _rewrite_selection(query: Selection, rewrite: Rewrite) -> Selection:
    def rewrite_named(named: Named) -> Named:
        return replace(named, expression=rewrite(named.expression))

    return replace(
        query,
        outputs=tuple(
            output if isinstance(output, Star) else rewrite_named(output)
            for output in query.outputs
        ),
        keys=tuple(map(rewrite_named, query.keys)),
        where=None if query.where is None else rewrite(query.where),
        having=None if query.having is None else rewrite(query.having),
        qualify=None if query.qualify is None else rewrite(query.qualify),
    )


def _resolve_outputs(view: RelationView, query: Selection) -> Iterator[Named]:
    seen: set[str] = set()
    for output in query.outputs:
        assert isinstance(output, Named)  # `resolve_names` leaves no stars
        name, number = output.name, 0
        while name.lower() in seen:  # the first keeps its name, as in DuckDB
            number += 1
            name = f"{output.name}_{number}"
        seen.add(name.lower())
        window = has_window(output.expression)  # `window_view` resolves its parts
        yield Named(name, output.expression if window else view.resolve(output.expression))


def _resolve_groups(
    view: RelationView,
    keys: list[Named],
    aggregates: list[Aggregate],
    outputs: list[Named],
    having: Expression | None,
) -> RelationView:
    """The view of groups, with each output as an expression of keys and aggregates."""
    output_names = {output.expression: output.name for output in outputs}
    distinct_keys: list[Named] = []
    for key in {key.expression: key for key in keys}.values():
        name = output_names.get(key.expression, key.name)
        while name.lower() in {other.name.lower() for other in distinct_keys}:
            name += "'"
        distinct_keys.append(Named(name, key.expression))
    groups = group_view(view, distinct_keys, aggregates)
    columns = dict(
        zip(
            [key.expression for key in distinct_keys] + list(aggregates),
            [column.expression for column in groups.columns],
            strict=True,
        )
    )

    def resolve(expression: Expression) -> Expression:
        return groups.scope.resolve(_use_columns(expression, columns))

    selected = tuple(
        ViewColumn(None, output.name, resolve(output.expression)) for output in outputs
    )
    filtered = groups if having is None else groups.filter(resolve(having))
    return replace(filtered, columns=selected)


def _use_columns(expression: Expression, columns: dict[Expression, Expression]) -> Expression:
    """The expression with keys and aggregates replaced by the columns that hold them."""
    if expression in columns:
        return columns[expression]
    if isinstance(expression, Call):
        inner = tuple(_use_columns(argument, columns) for argument in expression.arguments)
        return Call(expression.name, inner)
    if isinstance(expression, ColumnRef):
        raise InvalidQuery(
            f"In a sub-query, {expression} is outside an aggregate and not in GROUP BY. Use "
            f"MAX({expression}) or GROUP BY {expression}."
        )
    return expression
