"""SQL text into a Question.

The text is measured before it is parsed (length, nesting), parsed by sqlglot, and read into
our own trees; it never travels further.
"""

import logging
from dataclasses import replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import (
    aggregates_in,
    check_sizes,
    replace_columns,
    walk,
)
from deniable.query.language.question import Question
from deniable.query.language.sql_expressions import quote_sql
from deniable.query.language.sql_selects import (
    check_clauses,
    check_count,
    expand_aliases,
    output_at,
    read_expression,
    read_from,
    read_keys,
    read_outputs,
    read_where,
)
from deniable.query.language.sql_with import expand_with
from deniable.query.language.syntax_tree import (
    ColumnRef,
    Expression,
    Literal,
    Named,
    Relation,
    SubQuery,
    TableRef,
)

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # we say it in our own words

_LONGEST = 100_000
_MOST_AGGREGATES = 100  # different ones; each has noise of its own, and takes its time
_MOST_BINS = 2000  # of all histograms together
_MOST_TOKENS = 20_000
_DEEPEST = 60
_FROM = {"expressions", "from_", "joins"}


def parse(text: str) -> Question:
    """The question that a SELECT statement asks.

    >>> asked = parse("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward")
    >>> asked.table, [one.name for one in asked.outputs], str(asked.where)
    ('visits', ['ward', 'n'], '(age >= 18)')
    """
    try:
        return _read_statement(_statement(text))
    except RecursionError:
        raise _too_nested() from None


def _read_statement(select: exp.Expr) -> Question:
    check_clauses(select, outermost=True)
    found = read_outputs(select.expressions, stars=False)
    outputs = tuple(one for one in found if isinstance(one, Named))
    keys = read_keys(select.args.get("group"), outputs)
    if select.args.get("distinct") is not None:
        keys = _distinct(keys, outputs)
    having = select.args.get("having")
    where = read_where(select)
    asked = Question(
        table=_plain(read_from(select, where)),
        where=where,
        keys=keys,
        outputs=outputs,
        having=None
        if having is None
        else expand_aliases(read_expression(having.this), outputs),
        order=_order(select.args.get("order"), outputs),
        limit=_limit(select.args.get("limit")),
    )
    check_sizes(_expressions(asked))
    _check_many(asked)
    return _unaliased(asked)


def _check_many(asked: Question) -> None:
    """Refuses a question that is hundreds of questions."""
    parts = [one for one in _expressions(asked) if one is not None]
    found = dict.fromkeys(aggregate for part in parts for aggregate in aggregates_in(part))
    if len(found) > _MOST_AGGREGATES:
        raise InvalidQuery(
            f"The question asks for {len(found):,} different aggregates, and each is paid for: "
            f"at most {_MOST_AGGREGATES} at once."
        )
    bins = sum(one.bins or 0 for one in found if one.name == "histogram")
    if bins > _MOST_BINS:
        raise InvalidQuery(
            f"The histograms have {bins:,} bins together: at most {_MOST_BINS:,} at once."
        )


def _expressions(asked: Question) -> list[Expression | None]:
    return [
        *(named.expression for named in (*asked.keys, *asked.outputs)),
        *(one for one, _ in asked.order),
        *(asked.where, asked.having),
    ]


def _unaliased(asked: Question) -> Question:
    """A question about one table under another name, with the table's own."""
    if not isinstance(asked.table, TableRef):
        return asked
    alias = (asked.table.alias or asked.table.name).lower()

    def bare(one: ColumnRef) -> ColumnRef:
        return ColumnRef(one.name) if (one.table or "").lower() == alias else one

    def named(one: Named) -> Named:
        return replace(one, expression=replace_columns(one.expression, bare))

    parts = [one for one in _expressions(asked) if one is not None]
    if any(isinstance(leaf, SubQuery) for part in parts for leaf in walk(part)):
        return asked  # which may speak of the table by that name
    return replace(
        asked,
        table=asked.table.name,
        where=None if asked.where is None else replace_columns(asked.where, bare),
        keys=tuple(map(named, asked.keys)),
        outputs=tuple(map(named, asked.outputs)),
        having=None if asked.having is None else replace_columns(asked.having, bare),
        order=tuple((replace_columns(one, bare), down) for one, down in asked.order),
    )


def _plain(relation: Relation) -> str | Relation:
    """A table under its own name is just that name."""
    if isinstance(relation, TableRef) and relation.alias in (None, relation.name):
        return relation.name
    return relation


def _distinct(keys: tuple[Named, ...], outputs: tuple[Named, ...]) -> tuple[Named, ...]:
    """SELECT DISTINCT of columns groups by them; of aggregates it would mean nothing."""
    if keys or any(aggregates_in(output.expression) for output in outputs):
        raise InvalidQuery(
            "DISTINCT beside aggregates or GROUP BY is not supported: groups differ anyway. "
            "Leave it out."
        )
    return outputs


def parse_relation(text: str) -> str | Relation:
    """What follows FROM: a table's name, or joins and sub-queries in brackets.

    >>> (
    ...     parse_relation("visits"),
    ...     parse_relation("visits AS v JOIN wards AS w USING (ward)").kind,
    ... )
    ('visits', 'inner')
    """
    if isinstance(text, str) and text.isidentifier():
        return text
    _measure(text)
    try:
        select = _one(f"SELECT 1 FROM {text}")
        if {name for name, value in select.args.items() if value} <= _FROM:
            return _plain(read_from(select))
    except RecursionError:
        raise _too_nested() from None
    raise InvalidQuery(f"{text[:80]!r} is no table: name one, or join several.")


def parse_expression(text: str) -> Expression:
    """One row expression, such as the `where` of the Python door.

    >>> str(parse_expression("age >= 18 AND ward = 'A'"))
    "((age >= 18) AND (ward = 'A'))"
    """
    _measure(text)
    try:
        return read_expression(sqlglot.parse_one(text, dialect="duckdb"))
    except RecursionError:
        raise _too_nested() from None
    except (SqlglotError, AttributeError) as found:
        raise _not_understood(text, found) from None


def _statement(text: str) -> exp.Expr:
    text, top = _without_top(text)
    select = _one(text)
    if top is not None:
        if select.args.get("limit"):
            raise InvalidQuery("TOP and LIMIT say the same thing: use one of them.")
        select.set("limit", exp.Limit(expression=exp.Literal.number(top)))
    return select


def _one(text: str) -> exp.Expr:
    """The one SELECT that a text is."""
    try:
        found = [one for one in sqlglot.parse(text, dialect="duckdb") if one is not None]
    except RecursionError:
        raise _too_nested() from None
    except SqlglotError as problem:
        raise _not_understood(text, problem) from None
    if len(found) != 1:
        raise InvalidQuery(f"Ask one question at a time. Found {len(found)} statements.")
    select = expand_with(found[0])
    while isinstance(select, exp.Subquery) and not select.alias:
        select = select.this
    if isinstance(select, exp.Union):
        raise InvalidQuery(
            "UNION of answers is not supported: ask for each on its own, or put UNION ALL "
            "into FROM: SELECT COUNT(*) FROM (SELECT ... UNION ALL SELECT ...)."
        )
    if not isinstance(select, exp.Select):
        raise InvalidQuery(
            f"Only SELECT is answered. Found {type(select).__name__.upper()}: {quote_sql(select)}"
        )
    return select


def _measure(text: str) -> list[sqlglot.Token]:
    """Refuses what would cost more to parse than any question is worth."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(
            "There is no question. Write SQL, such as SELECT COUNT(*) FROM data."
        )
    if len(text) > _LONGEST:
        raise InvalidQuery(f"The question is too long: at most {_LONGEST:,} characters.")
    check_encodable(text, "The question")
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


def check_encodable(text: str, what: str) -> None:
    """Refuses text that no engine can be told, before anything is charged for it.

    >>> check_encodable("w = '\\ud800'", "The question")
    Traceback (most recent call last):
    deniable.errors.InvalidQuery: The question holds half a character at place 6...
    """
    if "\x00" in text:
        raise InvalidQuery(
            f"{what} holds the character NUL at place {text.index(chr(0)) + 1:,}, which "
            "engines take for the end of a text. Leave it out."
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise InvalidQuery(
            f"{what} holds half a character at place {problem.start + 1:,} (a lone surrogate), "
            "which UTF-8 cannot write. Write the whole character, or leave it out."
        ) from None


def _too_deep() -> InvalidQuery:
    return InvalidQuery(
        f"The question is too deep or too long: at most {_DEEPEST} levels of brackets or "
        f"signs in a row, and {_MOST_TOKENS:,} words."
    )


def _too_nested() -> InvalidQuery:
    return InvalidQuery(
        "The question nests too deeply to be read: CASE, functions, brackets or sub-queries "
        "inside one another, twenty or more. Name the inner ones in a sub-query of FROM, or in "
        "WITH, and go on from there."
    )


def _longest_run(tokens: list[sqlglot.Token]) -> int:
    """How many signs and NOTs stand in a row, or arrows and ][ anywhere: each nests the tree
    by one."""
    longest = run = arrows = 0
    before = ""
    for token in tokens:
        word = token.text.upper()
        run = run + 1 if word in ("-", "+", "~", "NOT", "!") else 0
        arrows += word in ("->", "->>") or before + word == "]["
        longest, before = max(longest, run, arrows), word
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


def _order(
    order: exp.Expr | None, outputs: tuple[Named, ...]
) -> tuple[tuple[Expression, bool], ...]:
    if order is None:
        return ()
    found = []
    check_count(order.expressions, "ORDER BY")
    for node in order.expressions:
        expression = expand_aliases(read_expression(node.this), outputs)
        if isinstance(expression, Literal):
            expression = output_at(expression, outputs, "ORDER BY")
        found.append((expression, bool(node.args.get("desc"))))
    return tuple(found)


def _limit(limit: exp.Expr | None) -> int | None:
    if limit is None:
        return None
    fetch = isinstance(limit, exp.Fetch)  # FETCH FIRST 3 ROWS ONLY
    number = limit.args.get("count") if fetch else limit.expression
    options = limit.args.get("limit_options")
    share = options is not None and any(
        options.args.get(one) for one in ("percent", "with_ties")
    )
    whole = isinstance(number, exp.Literal) and not number.is_string and number.this.isdigit()
    if not isinstance(number, exp.Literal) or share or not whole or len(number.this) > 18:
        said = "FETCH FIRST n ROWS ONLY" if fetch else "LIMIT"
        raise InvalidQuery(
            f"{said} takes a whole number, below 10 to the 18th"
            f"{': no share, and no ties' if fetch else ''}."
        )
    return int(number.this)
