"""What SQL over released rows may be made of: lists of its own, and everything else is refused.

Released rows are public, so any SQL over them is private. The lists keep the process that runs
it from files, settings and other databases, from results that change from run to run, and from
functions that make huge values of small ones. The text is written again, from the checked tree.
"""

from collections.abc import Callable, Set

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.exact.suggestions import suggest
from deniable.query.language.sql_calls import quote_sql

_CLAUSES = """
    Alias CTE Cube Distinct Except Filter From Group Grouping GroupingSets Having Identifier
    IgnoreNulls Intersect Join Limit Offset Order Ordered Pivot PivotAlias Qualify
    RespectNulls Rollup Select Star Subquery Table TableAlias Tuple Union Values Where Window
    WindowSpec With WithinGroup
"""
_VALUES = """
    Add And Between Boolean Case Cast Column DPipe DataType DataTypeParam Div EQ Exists GT GTE
    ILike If In IntDiv Interval Is LT LTE Like Literal Mod Mul NEQ Neg Not Null NullSafeEQ
    NullSafeNEQ Or Paren Sub TryCast Var
"""
_FUNCTIONS = """
    Abs Ceil Coalesce Concat ConcatWs Contains CumeDist Date DateDiff Day DayOfWeek DayOfYear
    Dayname DenseRank EndsWith Exp Extract FirstValue Floor Greatest Lag LastDay LastValue
    Lead Least Left Length Ln Log Lower Month Monthname NthValue Ntile Nullif PercentRank Pow
    Quarter Rank Replace Reverse Right Round RowNumber Sign SplitPart Sqrt StartsWith
    StrPosition Substring TimeToStr TimestampTrunc DateTrunc Trim Trunc Upper Week Year
"""
_AGGREGATES = """
    AnyValue ArgMax ArgMin Avg Corr Count CountIf CovarPop CovarSamp First GroupConcat Last
    LogicalAnd LogicalOr Max Median Min Mode PercentileCont PercentileDisc Quantile Stddev
    StddevPop StddevSamp Sum Variance VariancePop
"""
_LISTED = frozenset(f"{_CLAUSES} {_VALUES} {_FUNCTIONS} {_AGGREGATES}".split())
FUNCTION_NAMES = frozenset(f"{_FUNCTIONS} {_AGGREGATES}".split())
_MOST_NODES = 20_000
_LONGEST_CONSTANT = 10_000
_PARTLY = (
    exp.Ln,
    exp.Log,
    exp.Sqrt,
)  # not defined everywhere: `make_total` doubles their parts
_MOST_PARTLY = 4  # of them inside of one another
_TYPES = frozenset(
    (
        *("BIGINT", "BOOLEAN", "DATE", "DECIMAL", "DOUBLE", "FLOAT", "INT", "SMALLINT"),
        *("TEXT", "TIMESTAMP", "TINYINT", "VARCHAR"),
    )
)


def check_outer(tree: exp.Expr, names: Set[str]) -> None:
    """Refuses a tree that is not made of the listed parts, or reads other tables than these.

    >>> import sqlglot
    >>> check_outer(sqlglot.parse_one("SELECT SUM(n) FROM g", dialect="duckdb"), {"g"})
    >>> check_outer(sqlglot.parse_one("SELECT REPEAT('x', 9) FROM g"), {"g"})
    Traceback (most recent call last):
    deniable.errors.InvalidQuery: REPEAT is not available over released rows...
    """
    known = {name.lower() for name in names}
    for count, node in enumerate(tree.walk()):
        if count > _MOST_NODES:
            raise InvalidQuery("The question is too long, written out: shorten it.")
        if type(node).__name__ not in _LISTED:
            raise _not_listed(node)
        _check_node(node, known)


def _check_node(node: exp.Expr, names: Set[str]) -> None:
    if isinstance(node, exp.Table):
        plain = isinstance(node.this, exp.Identifier)
        if not plain or node.args.get("db") or node.name.lower() not in names:
            raise InvalidQuery(
                f"{quote_sql(node)} cannot be read beside released rows. FROM takes "
                "sub-queries with aggregates and names from WITH, but no files and functions."
            )
        extras = [k for k, v in node.args.items() if v and k not in _TABLE_PARTS]
        if extras:
            raise InvalidQuery(f"{quote_sql(node)}: {extras[0].upper()} is not supported.")
    elif isinstance(node, exp.With) and node.args.get("recursive"):
        raise InvalidQuery("WITH RECURSIVE is not supported. Use WITH.")
    elif isinstance(node, exp.DataType) and node.this.name not in _TYPES:
        raise InvalidQuery(
            f"Released rows cannot be cast to {quote_sql(node)}. Use INTEGER, DOUBLE, DECIMAL, "
            "TEXT, BOOLEAN, DATE or TIMESTAMP."
        )
    elif isinstance(node, _PARTLY) and _depth(node) > _MOST_PARTLY:
        raise InvalidQuery(
            f"At most {_MOST_PARTLY} levels of LN, LOG and SQRT inside of one another are "
            "available over released rows. Use a sub-query in FROM for the inner ones."
        )
    elif isinstance(node, exp.Literal) and len(str(node.this)) > _LONGEST_CONSTANT:
        raise InvalidQuery(f"A constant has more than {_LONGEST_CONSTANT:,} characters.")


def _depth(node: exp.Expr) -> int:
    """How many functions that are not defined everywhere are around this one, with itself; also
    around the sub-query that it stands in, which is written twice with all that it holds."""
    depth, above = 1, node.find_ancestor(*_PARTLY)
    while above is not None:
        depth, above = depth + 1, above.find_ancestor(*_PARTLY)
    return depth


_TABLE_PARTS = frozenset(("this", "alias", "joins", "pivots"))


def _not_listed(node: exp.Expr) -> InvalidQuery:
    if isinstance(node, exp.Func):
        name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
        known = sorted({_sql_name(each) for each in FUNCTION_NAMES})
        return InvalidQuery(
            f"{name.upper()} is not available over released rows. "
            + suggest(name.upper(), known, "Functions are")
        )
    return InvalidQuery(
        f"{quote_sql(node)} is not supported over released rows. Write SELECT ... FROM "
        "(SELECT keys, aggregates FROM ... GROUP BY keys) with joins, windows, CASE and the "
        "functions in docs/reference/sql.md."
    )


def _sql_name(kind: str) -> str:
    return str(getattr(exp, kind).sql_name())


def make_total(tree: exp.Expr) -> exp.Expr:
    """The tree with functions that cannot fail: what is not defined is NULL. FLOAT is DOUBLE,
    as in most systems: the rounding of one with 24 bits would be in no margin.

    >>> import sqlglot
    >>> make_total(sqlglot.parse_one("SELECT LN(n), CAST(k AS INT) FROM g")).sql("duckdb")
    'SELECT CASE WHEN n > 0 THEN LN(n) END, TRY_CAST(k AS INT) FROM g'
    """

    return _make_total(tree.copy())


def _make_total(tree: exp.Expr) -> exp.Expr:
    def change(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.DataType) and node.this == exp.DType.FLOAT:
            return exp.DataType.build("double")
        if type(node) is exp.Cast:
            return exp.TryCast(this=node.this, to=node.to)
        if isinstance(node, _PARTLY):
            # LOG(base, x) has its number in second place
            number = node.args.get("expression") or node.this
            least = exp.GTE if isinstance(node, exp.Sqrt) else exp.GT
            test = least(this=number.copy(), expression=exp.Literal.number(0))
            return exp.Case(ifs=[exp.If(this=test, true=node.copy())])
        return node

    return _from_below(tree, change)


def _from_below(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    for child in list(node.iter_expressions()):
        replacement = _from_below(child, change)
        if replacement is not child:
            child.replace(replacement)
    return change(node)


def write_outer(tree: exp.Expr, *, copy: bool = True) -> str:
    """The tree as DuckDB's SQL, without comments. Without a copy the tree is used up."""
    return tree.sql(dialect="duckdb", comments=False, copy=copy)


def write_total(tree: exp.Expr, *, copy: bool = True) -> str:
    """The tree as DuckDB's SQL, with functions that cannot fail; the tree is used up without a
    copy.

    >>> import sqlglot
    >>> write_total(sqlglot.parse_one("SELECT CAST(k AS INT) FROM g"))
    'SELECT TRY_CAST(k AS INT) FROM g'
    """
    return write_outer(make_total(tree) if copy else _make_total(tree), copy=False)
