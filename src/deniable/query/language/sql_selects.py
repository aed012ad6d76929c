"""SELECT statements, at any depth, read into our own trees. What is not listed is refused."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import (
    check_sizes,
    conjunction,
    conjuncts,
)
from deniable.query.language.function_names import LISTS
from deniable.query.language.spellings.compared_rows import compare_rows
from deniable.query.language.spellings.written_lists import add_lists, read_unnested
from deniable.query.language.spellings.written_windows import read_qualify
from deniable.query.language.sql_calls import quote_sql
from deniable.query.language.sql_expressions import ExpressionReader
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Derived,
    Expression,
    Join,
    Literal,
    Named,
    Relation,
    Selection,
    Star,
    SubQuery,
    TableRef,
    UnionAll,
    Unnested,
)

ALL_COLUMNS = "SELECT * would release rows"
_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "distinct"}
_CLAUSES |= {"laterals"}
_OUTER_CLAUSES = _CLAUSES | {"order", "limit"}
_MOST_COLUMNS, _MOST_KEYS = 1000, 50
_SIDES = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}

_STAR = Star()


def check_clauses(select: exp.Expr, *, outermost: bool) -> None:
    """Refuses unsupported clauses."""
    for clause, value in select.args.items():
        if not value or clause in (_OUTER_CLAUSES if outermost else _CLAUSES):
            continue
        name = clause.upper().strip("_")
        if clause == "limit":
            raise InvalidQuery(
                "LIMIT inside FROM is not supported: which rows it keeps depends on other "
                "people's rows. Use WHERE there, or LIMIT outside, on the private answer."
            )
        if clause == "qualify" and outermost:
            raise InvalidQuery(
                "QUALIFY is not supported here. Put it into a sub-query: SELECT COUNT(*) FROM "
                "(SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient ORDER "
                "BY day) = 1)."
            )
        if clause == "qualify" or (clause == "order" and not select.args.get("limit")):
            continue  # an order inside FROM has no effect
        raise InvalidQuery(
            f"{name} is not supported. Write [WITH ...] SELECT ... FROM tables [JOIN ... ON] "
            "[WHERE] [GROUP BY] [HAVING] [ORDER BY] [LIMIT]."
        )
    distinct = select.args.get("distinct")
    if outermost and distinct is not None and distinct.args.get("on"):
        raise InvalidQuery(
            "DISTINCT ON would release rows. It is supported in sub-queries: SELECT AVG(cost) "
            "FROM (SELECT DISTINCT ON (patient) cost FROM visits ORDER BY patient, day)."
        )


def read_selection(node: exp.Expr) -> Selection | UnionAll:
    """A sub-query."""
    while isinstance(node, exp.Subquery) and not _extras(node, "this", "alias"):
        node = node.this
    if isinstance(node, exp.Union):
        united = UnionAll(tuple(_union_parts(node, distinct=bool(node.args.get("distinct")))))
        return _distinct(Derived(united, "united")) if node.args.get("distinct") else united
    if isinstance(node, exp.Except | exp.Intersect):
        return _read_compared(node)
    if not isinstance(node, exp.Select):
        raise InvalidQuery(f"{quote_sql(node)} is not a sub-query. Write (SELECT ...).")
    check_clauses(node, outermost=False)
    having, where = node.args.get("having"), read_where(node)
    outputs = read_outputs(node.expressions, stars=True)
    named = tuple(output for output in outputs if isinstance(output, Named))
    selection = Selection(
        source=read_from(node, where),
        outputs=outputs,
        where=where,
        keys=read_keys(node.args.get("group")),
        having=None if having is None else read_expression(having.this),
        distinct=node.args.get("distinct") is not None
        and not node.args["distinct"].args.get("on"),
        by_all=groups_by_all(node.args.get("group")),
        qualify=read_qualify(node, read_expression),
    )
    expressions = [part.expression for part in (*named, *selection.keys)]
    check_sizes([*expressions, selection.where, selection.having, selection.qualify])
    return selection


def _read_subquery(node: exp.Expr) -> Selection:
    """A sub-query inside an expression."""
    selection = read_selection(node)
    if not isinstance(selection, Selection):
        raise InvalidQuery(
            "UNION ALL is supported only in FROM: FROM (SELECT ... UNION ALL SELECT ...)."
        )
    return selection


read_expression = ExpressionReader(_read_subquery).read


def _union_parts(node: exp.Expr, *, distinct: bool) -> list[Selection]:
    """The selections of a chain of UNION ALL, in order. Where the whole is made `distinct`, its
    parts need not be."""
    if isinstance(node, exp.Subquery) and not _extras(node, "this"):
        return _union_parts(node.this, distinct=distinct)
    if not isinstance(node, exp.Union) or (node.args.get("distinct") and not distinct):
        selection = read_selection(node)
        return list(selection.parts) if isinstance(selection, UnionAll) else [selection]
    if _extras(node, "this", "expression", "distinct"):
        raise InvalidQuery(
            "UNION with other clauses is not supported. Put it into brackets: FROM (SELECT ... "
            "UNION ALL SELECT ...)."
        )
    sides = (node.this, node.expression)
    return [part for side in sides for part in _union_parts(side, distinct=distinct)]


def _distinct(
    rows: Derived, output: Named | Star = _STAR, where: Expression | None = None
) -> Selection:
    """Each row once. That needs the unit among the columns."""
    return Selection(rows, (output,), where, distinct=True)


def _read_compared(node: exp.Expr) -> Selection:
    """a EXCEPT b and a INTERSECT b of one column, as rows for which b has, or has not, one."""
    sides = [read_selection(side) for side in (node.this, node.expression)]
    named = [
        side.outputs[0]
        for side in sides
        if isinstance(side, Selection) and len(side.outputs) == 1
    ]
    both, extras = (
        isinstance(node, exp.Intersect),
        _extras(node, "this", "expression", "distinct"),
    )
    left, right = (*named, None, None)[:2]
    plain = isinstance(left, Named) and isinstance(right, Named)
    rows = None if plain else compare_rows((sides[0], sides[1]), both=both)
    if rows is not None and not extras and node.args.get("distinct"):
        return rows
    if extras or not plain or not node.args.get("distinct"):
        raise InvalidQuery(
            f"{'INTERSECT' if both else 'EXCEPT'} is supported between two sub-queries that "
            "name their columns, the privacy unit among them. Or write WHERE [NOT] EXISTS "
            "(SELECT 1 FROM b WHERE b.patient = a.patient AND b.x = a.x)."
        )
    assert isinstance(left, Named)
    assert isinstance(right, Named)
    same = Call("=", (ColumnRef(right.name, "compared"), ColumnRef(left.name, "kept")))
    row = Selection(Derived(sides[1], "compared"), (Named("one", Literal(Fraction(1))),), same)
    exists: Expression = SubQuery("exists", row)
    output = Named(left.name, ColumnRef(left.name))
    where = exists if both else Call("not", (exists,))
    return _distinct(Derived(sides[0], "kept"), output, where)


def read_where(select: exp.Expr) -> Expression | None:
    """The condition of a SELECT. Read it only once: reading its sub-queries takes time."""
    where = select.args.get("where")
    return None if where is None else read_expression(where.this)


def read_from(select: exp.Expr, where: Expression | None = None) -> Relation:
    """What a SELECT reads: FROM and all JOINs."""
    source = select.args.get("from_")
    if source is None:
        raise InvalidQuery("The question has no FROM. Name the table to ask about.")
    relation = _read_relation(source.this)
    for join in select.args.get("joins") or ():
        relation = _read_join(relation, join)
    return _join_by_where(add_lists(relation, select), conjuncts(where))


def _join_by_where(relation: Relation, conditions: tuple[Expression, ...]) -> Relation:
    """Tables that are listed with commas, joined by the equalities of their columns in WHERE.

    WHERE keeps these conditions, so no answer changes. The join only makes them visible.
    """
    if isinstance(relation, Unnested):
        return replace(relation, source=_join_by_where(relation.source, conditions))
    if not isinstance(relation, Join) or relation.kind not in ("cross", "inner", "left"):
        return relation
    left = _join_by_where(relation.left, conditions)
    if relation.kind != "cross":
        return replace(relation, left=left)
    sides = _table_names(left), _table_names(relation.right)
    equal = [condition for condition in conditions if _joins_sides(condition, *sides)]
    kind = "inner" if equal else "cross"
    return Join(left, relation.right, kind, conjunction(equal))


def _table_names(relation: Relation) -> set[str]:
    """The names of the tables in a relation."""
    if isinstance(relation, Join):
        return _table_names(relation.left) | _table_names(relation.right)
    if isinstance(relation, Unnested):
        return _table_names(relation.source) | {(relation.alias or "").lower()} - {""}
    name = relation.name.rpartition(".")[2] if isinstance(relation, TableRef) else None
    return {(relation.alias or name or "").lower()} - {""}


def _joins_sides(condition: Expression, left: set[str], right: set[str]) -> bool:
    """Whether a condition equates a column of the left side with one of the right side."""
    if not isinstance(condition, Call) or condition.name != "=":
        return False
    tables = [
        argument.table.lower()
        for argument in condition.arguments
        if isinstance(argument, ColumnRef) and argument.table
    ]
    a, b = tables if len(tables) == 2 else ("", "")
    return (a in left and b in right) or (a in right and b in left)


def _read_relation(node: exp.Expr) -> Relation:
    alias = node.args.get("alias")
    columns = tuple(column.name for column in alias.args.get("columns") or ()) if alias else ()
    relation: Relation
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        if columns or _extras(node, "this", "alias", "joins", "db", "catalog"):
            raise InvalidQuery(
                f"{quote_sql(node)}: FROM takes the plain names of tables. Rename columns in a "
                "sub-query: (SELECT x AS y FROM ...)."
            )
        schema = (node.text("catalog"), node.text("db"), node.name)
        relation = TableRef(".".join(filter(None, schema)), node.alias or None)
    elif isinstance(node, exp.Subquery) and not _extras(node, "this", "alias", "joins"):
        if isinstance(node.this, exp.Table | exp.Subquery):
            relation = _rename_relation(_read_relation(node.this), node.alias or None, columns)
        else:
            relation = Derived(read_selection(node.this), node.alias or None, columns)
    else:
        raise InvalidQuery(
            f"{quote_sql(node)} cannot be read from. FROM takes tables of the policy by name, "
            "and sub-queries on them, but no files, functions or lists of values."
            + (f" {LISTS}" if node.find(exp.Unnest, exp.Explode) else "")
        )
    for join in node.args.get("joins") or ():
        relation = _read_join(relation, join)
    return relation


def _rename_relation(
    relation: Relation, alias: str | None, columns: tuple[str, ...]
) -> Relation:
    """A relation in brackets under a new name: (t) AS c, (a JOIN b USING (x)) AS c."""
    if alias is None:
        return relation
    if isinstance(relation, TableRef) and not columns:
        return TableRef(relation.name, alias)
    if isinstance(relation, Derived) and not relation.columns:
        return Derived(relation.query, alias, columns)
    return Derived(Selection(relation, (Star(),)), alias, columns)


def _read_join(left: Relation, join: exp.Expr) -> Relation:
    unnested = read_unnested(left, join)
    if unnested is not None:
        return unnested
    kind, side = str(join.args.get("kind") or ""), str(join.args.get("side") or "")
    method = str(join.args.get("method") or "")
    half = kind in ("SEMI", "ANTI") and side in ("", "LEFT") and not method
    known = kind in ("", "INNER", "OUTER", "CROSS") and side in _SIDES
    if method not in ("", "NATURAL") or not (known or half):
        raise InvalidQuery(
            f"{' '.join(filter(None, (method, side, kind)))} JOIN is not supported. Use "
            "[INNER], LEFT, RIGHT, FULL, CROSS, NATURAL, SEMI or ANTI JOIN, or EXISTS (...) in "
            "WHERE."
        )
    if _extras(join, "this", "kind", "side", "on", "using", "method"):
        raise InvalidQuery(f"{quote_sql(join)} is not supported. Use JOIN ... ON, or USING.")
    right, on = _read_relation(join.this), join.args.get("on")
    using = tuple(column.name for column in join.args.get("using") or ())
    if half:
        return _read_half_join(
            left, right, None if on is None else read_expression(on), using, kind == "ANTI"
        )
    if method:
        return Join(left, right, _SIDES[side], natural=True)
    if on is None and not using:
        if side:
            raise InvalidQuery(f"{quote_sql(join)} needs a condition: ON a.x = b.x.")
        return Join(left, right, "cross")
    return Join(left, right, _SIDES[side], None if on is None else read_expression(on), using)


def _read_half_join(
    left: Relation, right: Relation, on: Expression | None, using: tuple[str, ...], anti: bool
) -> Relation:
    """SEMI JOIN as EXISTS: it keeps the rows with a match. ANTI JOIN as NOT EXISTS."""
    names = [sorted(_table_names(side)) for side in (left, right)]
    if any(len(name) != 1 for name in names) or not (on or using):
        raise InvalidQuery(
            "SEMI and ANTI JOIN take one table on each side, and ON or USING. Or write "
            "[NOT] EXISTS (SELECT 1 FROM ... WHERE ...)."
        )
    (own,), (other,) = names
    same = [Call("=", (ColumnRef(name, other), ColumnRef(name, own))) for name in using]
    inner = Selection(right, (Named("one", Literal(Fraction(1))),), conjunction([on, *same]))
    exists: Expression = SubQuery("exists", inner)
    rows = Selection(left, (Star(),), Call("not", (exists,)) if anti else exists)
    return Derived(rows, own)


def _extras(node: exp.Expr, *known: str) -> bool:
    """Whether a node has arguments other than the known ones."""
    return any(value and name not in known for name, value in node.args.items())


def read_outputs(selected: list[exp.Expr], *, stars: bool) -> tuple[Named | Star, ...]:
    """The selected expressions and their names."""
    check_count(selected, "SELECT")
    outputs: list[Named | Star] = []
    for node in selected:
        whole = isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        if isinstance(node, exp.Star) or whole:
            if not stars:
                raise InvalidQuery(
                    f"{ALL_COLUMNS}. Ask for aggregates, such as COUNT(*) or AVG(x)."
                )
            if isinstance(node, exp.Star) and not _extras(node):
                outputs.append(Star())
                continue
            if whole and not _extras(node.this):
                outputs.append(Star(node.text("table")))
                continue
        inner = node.this if isinstance(node, exp.Alias) else node
        expression = read_expression(inner)
        check_sizes([expression])
        outputs.append(Named(node.alias or output_name(expression), expression))
    return tuple(outputs)


def check_count(listed: Sequence[object], clause: str, most: int = _MOST_COLUMNS) -> None:
    """Refuses a clause with too many expressions."""
    if len(listed) > most:
        raise InvalidQuery(
            f"{clause} has {len(listed):,} expressions. At most {most:,} are allowed."
        )


def output_name(expression: Expression) -> str:
    """The name of an output without an alias.

    >>> output_name(Aggregate("avg", ColumnRef("cost"))), output_name(Aggregate("count", None))
    ('avg_cost', 'count')
    """
    if isinstance(expression, ColumnRef):
        return expression.name
    if isinstance(expression, Aggregate):
        inner, name = expression.argument, expression.default_name
        return f"{name}_{inner.name}" if isinstance(inner, ColumnRef) else name
    return str(expression)


def read_keys(group: exp.Expr | None) -> tuple[Named, ...]:
    """What GROUP BY lists, as it is written: columns, expressions, aliases and positions."""
    if group is None or groups_by_all(group):
        return ()
    extras = [name for name, value in group.args.items() if value and name != "expressions"]
    several = (exp.Rollup, exp.Cube, exp.GroupingSets)
    if extras or any(isinstance(node, several) for node in group.expressions):
        raise InvalidQuery(
            f"{quote_sql(group).strip()} is not supported. Ask for each level on its own: "
            "GROUP BY a, b, then GROUP BY a, then without GROUP BY."
        )
    check_count(group.expressions, "GROUP BY", _MOST_KEYS)
    expressions = [read_expression(node) for node in group.expressions]
    check_sizes(expressions)
    return tuple(Named(output_name(expression), expression) for expression in expressions)


def groups_by_all(group: exp.Expr | None) -> bool:
    """Whether a GROUP BY is GROUP BY ALL."""
    return group is not None and bool(group.args.get("all")) and not group.expressions
