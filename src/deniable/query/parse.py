"""SQL text into a Question.

The text is measured before it is parsed (length, nesting), parsed by sqlglot, and read into
our own trees; it never travels further.
"""

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery
from deniable.query.expressions import (
    Aggregate,
    Call,
    Column,
    Expression,
    Literal,
    aggregates,
)
from deniable.query.question import Named, Question
from deniable.query.reader import read, shown

_LONGEST = 100_000
_MOST_TOKENS = 20_000
_DEEPEST = 60
_CLAUSES = {"expressions", "from_", "where", "group", "having", "order", "limit"}


def parse(text: str) -> Question:
    """The question that a SELECT statement asks.

    >>> asked = parse("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward")
    >>> asked.table, [one.name for one in asked.outputs], str(asked.where)
    ('visits', ['ward', 'n'], '(age >= 18)')
    """
    try:
        return _read_statement(_statement(text))
    except RecursionError:
        raise _too_deep() from None


def _read_statement(select: exp.Select) -> Question:
    for clause, value in select.args.items():
        if value and clause not in _CLAUSES:
            raise InvalidQuery(
                f"{clause.upper().strip('_')} is not supported. A question is SELECT ... "
                "FROM a table [WHERE] [GROUP BY] [HAVING] [ORDER BY] [LIMIT]."
            )
    outputs = _outputs(select.expressions)
    keys = _keys(select.args.get("group"), outputs)
    having = select.args.get("having")
    where = select.args.get("where")
    return Question(
        table=_table(select.args.get("from_")),
        where=None if where is None else read(where.this),
        keys=keys,
        outputs=outputs,
        having=None if having is None else aliased(read(having.this), outputs),
        order=_order(select.args.get("order"), outputs),
        limit=_limit(select.args.get("limit")),
    )


def condition(text: str) -> Expression:
    """One row expression, such as the `where` of the Python door.

    >>> str(condition("age >= 18 AND ward = 'A'"))
    "((age >= 18) AND (ward = 'A'))"
    """
    _measure(text)
    try:
        return read(sqlglot.parse_one(text, dialect="duckdb"))
    except (SqlglotError, RecursionError, AttributeError) as found:
        raise _not_understood(text, found) from None


def _statement(text: str) -> exp.Select:
    text, top = _without_top(text)
    try:
        found = [one for one in sqlglot.parse(text, dialect="duckdb") if one is not None]
    except (SqlglotError, RecursionError) as problem:
        raise _not_understood(text, problem) from None
    if len(found) != 1:
        raise InvalidQuery(f"Ask one question at a time. Found {len(found)} statements.")
    select = found[0]
    if not isinstance(select, exp.Select):
        raise InvalidQuery(
            f"Only SELECT is answered. Found {type(select).__name__.upper()}: {shown(select)}"
        )
    if top is not None:
        if select.args.get("limit"):
            raise InvalidQuery("TOP and LIMIT say the same thing: use one of them.")
        select.set("limit", exp.Limit(expression=exp.Literal.number(top)))
    return select


def _measure(text: str) -> list[sqlglot.Token]:
    """Refuses what would cost more to parse than any question is worth."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(
            "There is no question. Write SQL, such as SELECT COUNT(*) FROM data."
        )
    if len(text) > _LONGEST or "\x00" in text:
        raise InvalidQuery(f"The question is too long: at most {_LONGEST:,} characters.")
    try:
        tokens = sqlglot.tokenize(text, dialect="duckdb")
    except SqlglotError as problem:
        raise _not_understood(text, problem) from None
    depth = deepest = 0
    for token in tokens:
        word = token.text.upper()
        depth += (word in ("(", "[", "{", "CASE")) - (word in (")", "]", "}", "END"))
        deepest = max(deepest, depth)
    if deepest > _DEEPEST or len(tokens) > _MOST_TOKENS or _longest_run(tokens) > _DEEPEST:
        raise _too_deep()
    return tokens


def _too_deep() -> InvalidQuery:
    return InvalidQuery(
        f"The question is too deep or too long: at most {_DEEPEST} levels of brackets or "
        f"signs in a row, and {_MOST_TOKENS:,} words."
    )


def _longest_run(tokens: list[sqlglot.Token]) -> int:
    """How many signs and NOTs stand in a row: each nests the tree by one."""
    longest = run = 0
    for token in tokens:
        run = run + 1 if token.text.upper() in ("-", "+", "~", "NOT", "!") else 0
        longest = max(longest, run)
    return longest


def _without_top(text: str) -> tuple[str, str | None]:
    """SELECT TOP n ... as SELECT ... with a limit of n."""
    tokens = _measure(text)
    words = [token.text.upper() for token in tokens[:3]]
    if len(words) == 3 and words[:2] == ["SELECT", "TOP"] and words[2].isdigit():
        return text[: tokens[1].start] + text[tokens[2].end + 1 :], words[2]
    return text, None


def _not_understood(text: str, problem: Exception) -> InvalidQuery:
    errors = getattr(problem, "errors", None)
    where = ""
    if errors:
        first = errors[0]
        where = f" Near line {first.get('line')}, column {first.get('col')}."
    return InvalidQuery(f"This is not SQL that can be understood.{where} Asked: {text[:80]!r}")


def _table(source: exp.Expr | None) -> str:
    if source is None:
        raise InvalidQuery("The question has no FROM: name the table that it is about.")
    table = source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise InvalidQuery("FROM takes one table by its name; sub-queries come later.")
    if table.args.get("joins") or table.args.get("db"):
        raise InvalidQuery("FROM takes one table by its plain name; joins come later.")
    return table.name


def _outputs(selected: list[exp.Expr]) -> tuple[Named, ...]:
    outputs = []
    for node in selected:
        if isinstance(node, exp.Star):
            raise InvalidQuery(
                "SELECT * would hand out rows. Ask for aggregates, such as COUNT(*) or AVG(x)."
            )
        inner = node.this if isinstance(node, exp.Alias) else node
        expression = read(inner)
        outputs.append(Named(node.alias or label(expression), expression))
    names = [one.name for one in outputs]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise InvalidQuery(
            f"Two columns of the answer are called {doubled}: rename one with AS."
        )
    return tuple(outputs)


def label(expression: Expression) -> str:
    """The name of an output that was given none.

    >>> label(Aggregate("avg", Column("cost"))), label(Aggregate("count", None))
    ('avg_cost', 'count')
    """
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Aggregate):
        inner = expression.argument
        name = "units" if expression.name == "count_units" else expression.name
        return f"{name}_{inner.name}" if isinstance(inner, Column) else name
    return str(expression)


def _keys(group: exp.Expr | None, outputs: tuple[Named, ...]) -> tuple[Named, ...]:
    if group is None:
        return ()
    extras = [name for name, value in group.args.items() if value and name != "expressions"]
    if extras:
        raise InvalidQuery(f"GROUP BY {extras[0].upper()} is not supported: name the columns.")
    keys = []
    for node in group.expressions:
        expression = aliased(read(node), outputs)
        if isinstance(expression, Literal) and not isinstance(expression.value, str):
            expression = _position(expression, outputs, "GROUP BY")
        if aggregates(expression):
            raise InvalidQuery(
                f"GROUP BY {expression} groups by an aggregate: group by columns."
            )
        selected = next((one.name for one in outputs if one.expression == expression), None)
        keys.append(Named(selected or label(expression), expression))
    return tuple(dict.fromkeys(keys))


def _position(place: Literal, outputs: tuple[Named, ...], clause: str) -> Expression:
    if not isinstance(place.value, int) and place.value not in range(1, len(outputs) + 1):
        raise InvalidQuery(f"{clause} {place}: there are {len(outputs)} selected columns.")
    return outputs[int(place.value) - 1].expression  # type: ignore[arg-type]


def aliased(expression: Expression, outputs: tuple[Named, ...]) -> Expression:
    """The expression with the answer's own names replaced by what they stand for."""
    if isinstance(expression, Column):
        by_name = {one.name.lower(): one.expression for one in outputs}
        return by_name.get(expression.name.lower(), expression)
    if isinstance(expression, Call):
        inner = tuple(aliased(one, outputs) for one in expression.arguments)
        return Call(expression.name, inner)
    return expression


def _order(
    order: exp.Expr | None, outputs: tuple[Named, ...]
) -> tuple[tuple[Expression, bool], ...]:
    if order is None:
        return ()
    found = []
    for node in order.expressions:
        expression = aliased(read(node.this), outputs)
        if isinstance(expression, Literal):
            expression = _position(expression, outputs, "ORDER BY")
        found.append((expression, bool(node.args.get("desc"))))
    return tuple(found)


def _limit(limit: exp.Expr | None) -> int | None:
    if limit is None:
        return None
    number = limit.expression
    if not isinstance(number, exp.Literal) or number.is_string or not number.this.isdigit():
        raise InvalidQuery("LIMIT takes a whole number.")
    return int(number.this)
