"""How each node of a value is written in another engine's dialect, with its kind."""

from collections.abc import Mapping

from sqlglot import exp

from deniable.engines.dialect.constants import digits_of
from deniable.engines.dialect.engine_dialect import ValueWriter, WriteNode
from deniable.engines.dialect.function_writer import round_to_digits
from deniable.engines.dialect.list_writer import list_length, look_up, order_by_list, spread
from deniable.engines.dialect.typed_sql import ELEMENTS, INTEGERS, NUMBERS, Kind, TypedSQL
from deniable.engines.handover.declared_keys import type_of_keys
from deniable.query.plan.quoting import quote_name

_TYPES: dict[str, Kind] = {
    "INT": "int",
    "SMALLINT": "int",
    "TINYINT": "int",
    "BIGINT": "bigint",
    "INT128": "wide",
    "DOUBLE": "double",
    "TEXT": "text",
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMPNTZ": "timestamp",
}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
}


def _column(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    assert isinstance(node, exp.Column)
    sql = f"{to.dialect.quote_name(node.table)}." if node.table else ""
    return TypedSQL(sql + to.dialect.quote_name(node.name), to.scope.kind(node), simple=True)


def _literal(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if node.is_string:
        return TypedSQL(to.text_literal(node.name), "text", simple=True)
    if node.name.lstrip("-").isdigit():
        large = abs(int(node.name)) >= 2**31
        return TypedSQL(node.name, "bigint" if large else "int", simple=True)
    return TypedSQL(to.double_literal(float(node.name)), "double", simple=True)


def _null(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL("NULL", "null", simple=True)


def _boolean(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL("TRUE" if node.this else "FALSE", "boolean", simple=True)


def _paren(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    inner = to.write(node.this)
    return inner if inner.simple else TypedSQL(f"({inner.sql})", inner.kind)


def _cast(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    kind = _TYPES.get(node.args["to"].this.name)
    if kind is None:
        raise to.unsupported(node.args["to"])
    if kind == "double" and (number := digits_of(node.this)) is not None:
        return TypedSQL(to.double_literal(float(number)), "double", simple=True)
    value = to.write(node.this)
    return to.cast(value, kind)


def _moved(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """A moment plus INTERVAL (n) SECOND or MONTH."""
    span = node.expression
    date, count = to.cast(to.write(node.this), "timestamp"), to.write(span.this)
    unit = span.text("unit").upper()
    if unit not in ("SECOND", "MONTH") or count.kind not in INTEGERS:
        raise to.unsupported(node)
    return TypedSQL(to.dialect.moved(date.sql, count.sql, unit), "timestamp")


def _arithmetic(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if isinstance(node.expression, exp.Interval) and isinstance(node, exp.Add):
        return _moved(to, node)
    left, right = (
        to.write(node.this),
        to.write(node.expression),
    )
    sign = _ARITHMETIC[type(node)]
    kinds = {left.kind, right.kind}
    if kinds <= set(INTEGERS) and sign != "/":
        kind: Kind = "wide" if "wide" in kinds else "bigint" if "bigint" in kinds else "int"
        return to.dialect.integer_arithmetic(to, sign, left, right, kind)
    if not kinds <= {*NUMBERS, "null"}:
        raise to.unsupported(node)
    doubles = [
        operand if operand.kind == "double" else to.cast(operand, "double")
        for operand in (left, right)
    ]
    return to.dialect.double_arithmetic(to, sign, *doubles)


def _negative(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    inner = to.write(node.this)
    return TypedSQL(f"(- {inner.sql})", inner.kind)


def _divide_wide(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    left, right = (to.write(operand) for operand in (node.this, node.expression))
    if not {left.kind, right.kind} <= set(INTEGERS):
        raise to.unsupported(node)
    return to.dialect.divide_wide(to, left, right)


def _comparison(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    left, right = to.align(node, to.write(node.this), to.write(node.expression))
    return TypedSQL(f"({left.sql} {_COMPARISONS[type(node)]} {right.sql})", "boolean")


def _and_or(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    word = "AND" if isinstance(node, exp.And) else "OR"
    left, right = (
        to.write(node.this),
        to.write(node.expression),
    )
    return TypedSQL(f"({left.sql} {word} {right.sql})", "boolean")


def _not(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return TypedSQL(f"(NOT {to.write(node.this).sql})", "boolean")


def _is(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if not isinstance(node.expression, exp.Null):
        raise to.unsupported(node)
    return TypedSQL(f"({to.write(node.this).sql} IS NULL)", "boolean")


def _in(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if node.args.get("query") is not None:
        return _in_query(to, node)
    value, *items = to.align(node, *(to.write(part) for part in (node.this, *node.expressions)))
    listed = ", ".join(item.sql for item in items)
    return TypedSQL(f"({value.sql} IN ({listed}))", "boolean")


def _in_query(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """Whether a value is in the one column of a query, which has the same kind."""
    value, keys = to.write(node.this), _keys_of(node.args["query"], to)
    if keys is not None:
        return _in_keys(to, node, value, keys)
    listed = to.write_query(node.args["query"])
    if list(listed.columns.values()) != [value.kind]:
        raise to.unsupported(node)
    return TypedSQL(f"({value.sql} IN ({listed.sql}))", "boolean")


def _keys_of(query: exp.Expr, to: ValueWriter) -> str | None:
    """The relation of declared keys that a query reads; None if it is another query."""
    source = query.find(exp.Table)
    if source is None or source.name not in to.state.keys:
        return None
    whole = query.unnest().sql("duckdb") == f"SELECT key FROM {quote_name(source.name)}"
    return source.name if whole else None


def _in_keys(to: ValueWriter, node: exp.Expr, value: TypedSQL, keys: str) -> TypedSQL:
    kind = type_of_keys(to.state.keys[keys])
    if value.kind in INTEGERS and kind == "bigint":
        value = to.cast(value, kind)
    if value.kind != kind:
        raise to.unsupported(node)
    return TypedSQL(f"({to.dialect.in_keys(to.state, value.sql, keys)})", "boolean")


def _between(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    parts = (to.write(node.args[part]) for part in ("this", "low", "high"))
    value, low, high = to.align(node, *parts)
    return TypedSQL(f"({value.sql} BETWEEN {low.sql} AND {high.sql})", "boolean")


def _case(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    conditions = [to.write(branch.this) for branch in node.args["ifs"]]
    tests = [condition.sql for condition in conditions]
    if node.this is not None:
        subject, *aligned = to.align(node, to.write(node.this), *conditions)
        tests = [f"({subject.sql} = {test.sql})" for test in aligned]
    values = [to.write(branch.args["true"]) for branch in node.args["ifs"]]
    default = node.args.get("default")
    last = [] if default is None else [to.write(default)]
    kind = to.common_kind([*values, *last])
    values, last = ([to.cast(value, kind) for value in part] for part in (values, last))
    pairs = zip(tests, values, strict=True)
    sql = "CASE" + "".join(f" WHEN {test} THEN {value.sql}" for test, value in pairs)
    return TypedSQL(f"{sql} ELSE {last[0].sql} END" if last else f"{sql} END", kind)


def _coalesce_or_extreme(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    """COALESCE, LEAST, GREATEST: of one kind; NULL if all values are NULL."""
    values = [to.write(value) for value in (node.this, *node.expressions)]
    kind = to.common_kind(values)
    listed = ", ".join(to.cast(value, kind).sql for value in values)
    return TypedSQL(f"{type(node).__name__.upper()}({listed})", kind)


def _nullif(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value, out = (
        to.write(node.this),
        to.write(node.expression),
    )
    return TypedSQL(f"NULLIF({value.sql}, {to.cast(out, value.kind).sql})", value.kind)


def _abs(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value = to.write(node.this)
    return TypedSQL(f"ABS({value.sql})", value.kind)


def write_rounding(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if node.args.get("decimals") is not None:
        rounded = round_to_digits(to, node)
        if rounded is None:
            raise to.unsupported(node)
        return rounded
    value = to.write(node.this)
    return (
        value
        if value.kind in INTEGERS
        else to.dialect.round_double(to, type(node).__name__.lower(), value)
    )


def _like(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    return to.dialect.like(to, to.write(node.this), to.write(node.expression))


def _count(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if isinstance(node.this, exp.Star):
        return TypedSQL("COUNT(*)", "bigint")
    inner, word = node.this, ""
    if isinstance(inner, exp.Distinct):
        (inner,), word = inner.expressions, "DISTINCT "
    return TypedSQL(f"COUNT({word}{to.write(inner).sql})", "bigint")


def _sum(to: ValueWriter, node: exp.Expr, over: str = "") -> TypedSQL:
    if isinstance(node.this, exp.Distinct):
        (inner,) = node.this.expressions
        value = to.write(inner)
        if value.kind != "wide":  # others are added up in parts, which are not different
            raise to.unsupported(node)
        return to.dialect.sum_integers(TypedSQL(f"DISTINCT {value.sql}", "wide"), over)
    value = to.write(node.this)
    if value.kind not in INTEGERS:
        raise to.unsupported(node)  # a sum of doubles depends on the order of rows
    return to.dialect.sum_integers(value, over)


def _extreme(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    value = to.write(node.this)
    return TypedSQL(to.dialect.extreme(type(node).__name__.upper(), value), value.kind)


def _median(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if to.dialect.median is None:
        raise to.unsupported(node)
    return TypedSQL(to.dialect.median.format(to.write(node.this).sql), "double")


_RANKS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "ROW_NUMBER",
    exp.Rank: "RANK",
    exp.DenseRank: "DENSE_RANK",
}
_OTHER_ROWS: dict[type[exp.Expr], str] = {
    exp.Lag: "LAG",
    exp.Lead: "LEAD",
    exp.FirstValue: "FIRST_VALUE",
    exp.LastValue: "LAST_VALUE",
}


def _window(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    # Row numbers over a whole table may change each time that it is read.
    if not node.args.get("partition_by"):
        raise to.unsupported(node)
    partition = ", ".join(to.write(key).sql for key in node.args["partition_by"])
    order, spec = node.args.get("order"), node.args.get("spec")
    sorted_ = f" ORDER BY {write_list(to, order)}" if order else ""
    frame = f" {spec.sql('duckdb')}" if spec else ""
    over = f" OVER (PARTITION BY {partition}{sorted_}{frame})"
    function = node.this
    if type(function) in _RANKS and not frame:
        return TypedSQL(f"{_RANKS[type(function)]}(){over}", "bigint")
    if not to.dialect.windows:
        raise to.unsupported(function)
    if isinstance(function, exp.Sum):
        return _sum(to, function, over)
    if isinstance(function, exp.Count | exp.Min | exp.Max):
        value = to.write(function)
        return TypedSQL(f"{value.sql}{over}", value.kind)
    if type(function) not in _OTHER_ROWS:
        raise to.unsupported(function)
    value, away = to.write(function.this), function.args.get("offset")
    further = f", {away.this}" if isinstance(away, exp.Literal) else ""
    return TypedSQL(f"{_OTHER_ROWS[type(function)]}({value.sql}{further}){over}", value.kind)


def write_list(to: ValueWriter, node: exp.Expr) -> str:
    parts = []
    for item in node.expressions:
        ordered = isinstance(item, exp.Ordered)
        last = " NULLS LAST" if ordered and item.args.get("nulls_first") is not None else ""
        if last and not to.dialect.windows:
            raise to.unsupported(item)  # it sorts texts and NULLs in another way
        value = to.write(item.this if ordered else item)
        if last and value.kind in ELEMENTS:
            raise order_by_list(to)
        down = " DESC" if ordered and item.args.get("desc") else ""
        parts.append(f"{value.sql}{down}{last}")
    return ", ".join(parts)


def _look_up_or_hash(to: ValueWriter, node: exp.Expr) -> TypedSQL:
    if node.name == "LIST_EXTRACT":
        return look_up(to, node)
    if node.name.upper() != "HASH" or not isinstance(node.expressions[-1], exp.Placeholder):
        raise to.unsupported(node)
    return to.dialect.keyed_hash(
        to.state, [to.write(argument) for argument in node.expressions[:-1]]
    )


VALUES: Mapping[type[exp.Expr], WriteNode] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Null: _null,
    exp.Boolean: _boolean,
    exp.Paren: _paren,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Neg: _negative,
    exp.IntDiv: _divide_wide,
    exp.And: _and_or,
    exp.Or: _and_or,
    exp.Not: _not,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.Coalesce: _coalesce_or_extreme,
    exp.Least: _coalesce_or_extreme,
    exp.Greatest: _coalesce_or_extreme,
    exp.Nullif: _nullif,
    exp.Abs: _abs,
    exp.Floor: write_rounding,
    exp.Ceil: write_rounding,
    exp.Round: write_rounding,
    exp.Like: _like,
    exp.Count: _count,
    exp.Sum: _sum,
    exp.Min: _extreme,
    exp.Max: _extreme,
    exp.Median: _median,
    exp.Window: _window,
    exp.Anonymous: _look_up_or_hash,
    exp.Explode: spread,
    exp.ArraySize: list_length,
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    **dict.fromkeys(_COMPARISONS, _comparison),
}
