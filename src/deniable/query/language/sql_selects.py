"""SELECT statements read into our own trees, at any depth: what is not listed does not pass."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import (
    aggregates_in,
    check_sizes,
    conjunction,
    conjuncts,
    replace_columns,
)
from deniable.query.language.sql_expressions import ExpressionReader, quote_sql
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
)

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "distinct"}
_OUTER_CLAUSES = _CLAUSES | {"order", "limit"}
_MOST_COLUMNS, _MOST_KEYS = 1000, 50
_SIDES = {"": "inner", "LEFT": "left", "RIGHT": "right", "FULL": "full"}


def check_clauses(select: exp.Expr, *, outermost: bool) -> None:
    """Refuses clauses that are not known."""
    for clause, value in select.args.items():
        if not value or clause in (_OUTER_CLAUSES if outermost else _CLAUSES):
            continue
        name = clause.upper().strip("_")
        if clause == "limit":
            raise InvalidQuery(
                "LIMIT inside FROM would choose rows by what the others are. Choose them with "
                "WHERE, or use LIMIT outside, on the private answer."
            )
        if clause == "qualify":
            raise InvalidQuery(
                "QUALIFY keeps rows by a window, which looks from one row at others. Use a "
                "sub-query GROUP BY the privacy unit, with HAVING."
            )
        if clause == "order" and not select.args.get("limit"):
            continue  # an order inside FROM means nothing
        raise InvalidQuery(
            f"{name} is not supported. A question is [WITH ...] SELECT ... FROM tables "
            "[JOIN ... ON] [WHERE] [GROUP BY] [HAVING] [ORDER BY] [LIMIT]."
        )
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise InvalidQuery(
            "DISTINCT ON keeps whichever row comes first, which is up to the other rows. Use "
            "GROUP BY with MIN or MAX."
        )


def read_selection(node: exp.Expr) -> Selection | UnionAll:
    """A sub-query."""
    while isinstance(node, exp.Subquery) and not _extras(node, "this", "alias"):
        node = node.this
    if isinstance(node, exp.Union):
        return UnionAll(tuple(_union_parts(node)))
    if not isinstance(node, exp.Select):
        raise InvalidQuery(f"{quote_sql(node)} is no sub-query: a SELECT is.")
    check_clauses(node, outermost=False)
    having, where = node.args.get("having"), read_where(node)
    outputs = read_outputs(node.expressions, stars=True)
    named = tuple(output for output in outputs if isinstance(output, Named))
    made = Selection(
        source=read_from(node, where),
        outputs=outputs,
        where=where,
        keys=read_keys(node.args.get("group"), named),
        having=None if having is None else expand_aliases(read_expression(having.this), named),
        distinct=node.args.get("distinct") is not None,
    )
    check_sizes([*(one.expression for one in (*named, *made.keys)), made.where, made.having])
    return made


def _one_selection(node: exp.Expr) -> Selection:
    found = read_selection(node)
    if not isinstance(found, Selection):
        raise InvalidQuery("UNION ALL stands in FROM only: FROM (SELECT ... UNION ALL ...).")
    return found


read_expression = ExpressionReader(_one_selection).read


def _union_parts(node: exp.Expr) -> list[Selection]:
    """The selections of a chain of UNION ALL, in order."""
    if isinstance(node, exp.Subquery) and not _extras(node, "this"):
        return _union_parts(node.this)
    if not isinstance(node, exp.Union):
        found = read_selection(node)
        return list(found.parts) if isinstance(found, UnionAll) else [found]
    if node.args.get("distinct") or _extras(node, "this", "expression"):
        raise InvalidQuery(
            "UNION without ALL drops rows that equal others, which ties people together. Use "
            "UNION ALL, then SELECT DISTINCT with the privacy unit."
        )
    return _union_parts(node.this) + _union_parts(node.expression)


def read_where(select: exp.Expr) -> Expression | None:
    """The condition of a SELECT; read once, since sub-queries in it have conditions too."""
    where = select.args.get("where")
    return None if where is None else read_expression(where.this)


def read_from(select: exp.Expr, where: Expression | None = None) -> Relation:
    """What a SELECT reads: FROM and all JOINs."""
    source = select.args.get("from_")
    if source is None:
        raise InvalidQuery("The question has no FROM: name the table that it is about.")
    made = _read_relation(source.this)
    for join in select.args.get("joins") or ():
        made = _read_join(made, join)
    return _join_by_where(made, conjuncts(where))


def _join_by_where(relation: Relation, conditions: tuple[Expression, ...]) -> Relation:
    """Tables behind a comma, joined where WHERE says that columns of theirs are equal.

    WHERE says so still, so this changes no answer: it only shows on what they are joined.
    """
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
    name = relation.name if isinstance(relation, TableRef) else None
    return {(relation.alias or name or "").lower()} - {""}


def _joins_sides(condition: Expression, left: set[str], right: set[str]) -> bool:
    if not isinstance(condition, Call) or condition.name != "=":
        return False
    found = [
        argument.table
        for argument in condition.arguments
        if isinstance(argument, ColumnRef) and argument.table
    ]
    a, b = (one.lower() for one in found) if len(found) == 2 else ("", "")
    return (a in left and b in right) or (a in right and b in left)


def _read_relation(node: exp.Expr) -> Relation:
    alias = node.args.get("alias")
    columns = tuple(one.name for one in alias.args.get("columns") or ()) if alias else ()
    made: Relation
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        if columns or _extras(node, "this", "alias", "joins"):
            raise InvalidQuery(
                f"{quote_sql(node)}: FROM takes tables by their plain names. Name columns anew in "
                "a sub-query: (SELECT x AS y FROM ...)."
            )
        made = TableRef(node.name, node.alias or None)
    elif isinstance(node, exp.Subquery) and not _extras(node, "this", "alias", "joins"):
        if isinstance(node.this, exp.Table | exp.Subquery) and alias is None:
            made = _read_relation(node.this)
        else:
            made = Derived(read_selection(node.this), node.alias or None, columns)
    else:
        raise InvalidQuery(
            f"{quote_sql(node)} cannot be read from. FROM takes tables of the policy by name, and "
            "sub-queries about them; no files, functions or lists of values."
        )
    for join in node.args.get("joins") or ():
        made = _read_join(made, join)
    return made


def _read_join(left: Relation, join: exp.Expr) -> Relation:
    kind, side = str(join.args.get("kind") or ""), str(join.args.get("side") or "")
    method = str(join.args.get("method") or "")
    half = kind in ("SEMI", "ANTI") and side in ("", "LEFT") and not method
    known = kind in ("", "INNER", "OUTER", "CROSS") and side in _SIDES
    if method not in ("", "NATURAL") or not (known or half):
        raise InvalidQuery(
            f"{' '.join(filter(None, (method, side, kind)))} JOIN is not supported: [INNER], "
            "LEFT, RIGHT, FULL, CROSS, NATURAL, SEMI and ANTI are; and EXISTS (...) in WHERE."
        )
    if _extras(join, "this", "kind", "side", "on", "using", "method"):
        raise InvalidQuery(f"{quote_sql(join)} is not supported: JOIN ... ON, or USING.")
    right, on = _read_relation(join.this), join.args.get("on")
    using = tuple(one.name for one in join.args.get("using") or ())
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
    """SEMI JOIN keeps the rows that meet some, ANTI JOIN those that meet none, as EXISTS."""
    names = [sorted(_table_names(side)) for side in (left, right)]
    if any(len(name) != 1 for name in names) or not (on or using):
        raise InvalidQuery(
            "SEMI and ANTI JOIN take a table on either side, and ON or USING: or write "
            "[NOT] EXISTS (SELECT 1 FROM ... WHERE ...)."
        )
    (mine,), (other,) = names
    same = [Call("=", (ColumnRef(name, other), ColumnRef(name, mine))) for name in using]
    inner = Selection(right, (Named("one", Literal(Fraction(1))),), conjunction([on, *same]))
    met: Expression = SubQuery("exists", inner)
    kept = Selection(left, (Star(),), Call("not", (met,)) if anti else met)
    return Derived(kept, mine)


def _extras(node: exp.Expr, *known: str) -> bool:
    return any(value and name not in known for name, value in node.args.items())


def read_outputs(selected: list[exp.Expr], *, stars: bool) -> tuple[Named | Star, ...]:
    """What is selected, under its names."""
    check_count(selected, "SELECT")
    outputs: list[Named | Star] = []
    for node in selected:
        whole = isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
        if isinstance(node, exp.Star) or whole:
            if not stars:
                raise InvalidQuery(
                    "SELECT * would hand out rows. Ask for aggregates, such as COUNT(*) or "
                    "AVG(x)."
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
    check_names(
        (output for output in outputs if isinstance(output, Named)), "rename one with AS"
    )
    return tuple(outputs)


def check_names(outputs: Iterable[Named], mend: str) -> None:
    """Refuses two columns of one name."""
    names = Counter(output.name.lower() for output in outputs)
    doubled = next((name for name, count in names.items() if count > 1), None)
    if doubled is not None:
        raise InvalidQuery(f"Two columns of the answer are called {doubled}: {mend}.")


def check_count(listed: Sequence[object], clause: str, most: int = _MOST_COLUMNS) -> None:
    """Refuses a list that is longer than any table is wide."""
    if len(listed) > most:
        raise InvalidQuery(f"{clause} lists {len(listed):,} things: at most {most:,}.")


def output_name(expression: Expression) -> str:
    """The name of an output that was given none.

    >>> output_name(Aggregate("avg", ColumnRef("cost"))), output_name(Aggregate("count", None))
    ('avg_cost', 'count')
    """
    if isinstance(expression, ColumnRef):
        return expression.name
    if isinstance(expression, Aggregate):
        inner, name = expression.argument, expression.default_name
        return f"{name}_{inner.name}" if isinstance(inner, ColumnRef) else name
    return str(expression)


def read_keys(group: exp.Expr | None, outputs: tuple[Named, ...]) -> tuple[Named, ...]:
    """What GROUP BY groups by: columns, expressions, aliases and positions."""
    if group is None:
        return ()
    extras = [name for name, value in group.args.items() if value and name != "expressions"]
    if extras == ["all"] and not group.expressions:
        return tuple(output for output in outputs if not aggregates_in(output.expression))
    if extras:
        raise InvalidQuery(f"GROUP BY {extras[0].upper()} is not supported: name the columns.")
    keys = []
    check_count(group.expressions, "GROUP BY", _MOST_KEYS)
    for node in group.expressions:
        expression = expand_aliases(read_expression(node), outputs)
        check_sizes([expression])
        if isinstance(expression, Literal) and not isinstance(expression.value, str):
            expression = output_at(expression, outputs, "GROUP BY")
        if aggregates_in(expression):
            raise InvalidQuery(
                f"GROUP BY {expression} groups by an aggregate: group by columns."
            )
        selected = next(
            (output.name for output in outputs if output.expression == expression), None
        )
        keys.append(Named(selected or output_name(expression), expression))
    return tuple(dict.fromkeys(keys))


def output_at(place: Literal, outputs: tuple[Named, ...], clause: str) -> Expression:
    """The output at a place, counted from 1."""
    if isinstance(place.value, bool) or place.value not in range(1, len(outputs) + 1):
        raise InvalidQuery(f"{clause} {place}: there are {len(outputs)} selected columns.")
    return outputs[int(place.value) - 1].expression  # type: ignore[arg-type]


def expand_aliases(expression: Expression, outputs: tuple[Named, ...]) -> Expression:
    """The expression with the answer's own names replaced by what they stand for."""
    by_name = {output.name.lower(): output.expression for output in outputs}

    def stands_for(one: ColumnRef) -> Expression:
        return one if one.table else by_name.get(one.name.lower(), one)

    if isinstance(expression, Aggregate):
        return expression
    return replace_columns(expression, stands_for)
