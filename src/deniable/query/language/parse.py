"""SQL text into a Question.

The length and nesting of the text are checked first. Then sqlglot parses it, and it is read
into our own trees. The text itself goes no further.
"""

import logging
import re
from fractions import Fraction
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery
from deniable.query.language.expressions import (
    aggregates_in,
    check_sizes,
)
from deniable.query.language.function_names import advise_unparsed
from deniable.query.language.question import Question
from deniable.query.language.quoted_names import quote_names
from deniable.query.language.spellings.sql_parser import parse_statements, read_tokens
from deniable.query.language.spellings.written_json import check_json_keys, check_json_paths
from deniable.query.language.sql_calls import quote_sql
from deniable.query.language.sql_selects import (
    check_clauses,
    check_count,
    groups_by_all,
    read_expression,
    read_from,
    read_keys,
    read_outputs,
    read_where,
)
from deniable.query.language.sql_with import expand_with
from deniable.query.language.syntax_tree import (
    Expression,
    Literal,
    Named,
    Relation,
    TableRef,
)

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # our errors say it all

_LONGEST = 100_000
_MOST_AGGREGATES = 100  # different ones; each has its own noise, and takes time
_MOST_BINS = 2000  # of all histograms together
_MOST_TOKENS = 20_000
_DEEPEST = 60
_FROM = {"expressions", "from_", "joins"}


def parse(text: str) -> Question:
    """The question that a SELECT statement asks.

    >>> question = parse("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward")
    >>> question.table, [output.name for output in question.outputs], str(question.where)
    ('visits', ['ward', 'n'], '(age >= 18)')
    """
    outcome = _read_or_refuse(text)
    if isinstance(outcome, InvalidQuery):
        raise outcome.with_traceback(None)
    return outcome


@lru_cache(maxsize=32)  # a question in several parts is read, asked and asked for again
def _read_or_refuse(text: str) -> Question | InvalidQuery:
    """The question, or why there is no question: that is asked for again, too."""
    try:
        return _read_statement(_statement(_with_quotes(text)))
    except RecursionError:
        return _too_nested()
    except InvalidQuery as refusal:
        refusal.__context__ = None  # it would keep all frames of the parser
        return refusal.with_traceback(None)


def parse_tree(text: str) -> exp.Expr:
    """The tree of one statement, with its WITH and without comments. Nothing is looked up.

    >>> parse_tree("WITH g AS (SELECT 1 AS x) SELECT x FROM g").key
    'select'
    """
    text, top = _without_top(_with_quotes(text))
    tree = _only_statement(text)
    if top is not None and not tree.args.get("limit"):
        tree.set("limit", exp.Limit(expression=exp.Literal.number(top)))
    return tree


def _read_statement(select: exp.Expr) -> Question:
    check_clauses(select, outermost=True)
    selected = read_outputs(select.expressions, stars=False)
    having, group = select.args.get("having"), select.args.get("group")
    where = read_where(select)
    question = Question(
        table=_plain_name(read_from(select, where)),
        where=where,
        keys=read_keys(group),
        outputs=tuple(output for output in selected if isinstance(output, Named)),
        having=None if having is None else read_expression(having.this),
        order=_read_order(select.args.get("order"), len(selected)),
        limit=_read_limit(select.args.get("limit")),
        distinct=select.args.get("distinct") is not None,
        by_all=groups_by_all(group),
    )
    check_sizes(_expressions(question))
    _check_aggregates(question)
    return question


def _check_aggregates(question: Question) -> None:
    """Refuses a question with too many aggregates or bins."""
    aggregates = dict.fromkeys(
        aggregate
        for expression in _expressions(question)
        if expression is not None
        for aggregate in aggregates_in(expression)
    )
    if len(aggregates) > _MOST_AGGREGATES:
        raise InvalidQuery(
            f"The question has {len(aggregates):,} different aggregates, and each has a cost. "
            f"Ask for at most {_MOST_AGGREGATES} at once."
        )
    bins = sum(each.bins or 0 for each in aggregates if each.name == "histogram")
    if bins > _MOST_BINS:
        raise InvalidQuery(
            f"The histograms have {bins:,} bins together. Ask for at most {_MOST_BINS:,} at "
            "once."
        )


def _expressions(question: Question) -> list[Expression | None]:
    return [
        *(named.expression for named in (*question.keys, *question.outputs)),
        *(expression for expression, _ in question.order),
        *(question.where, question.having),
    ]


def _plain_name(relation: Relation) -> str | Relation:
    """The name of a table without an alias; other relations as they are."""
    if isinstance(relation, TableRef) and relation.alias in (None, relation.name):
        return relation.name
    return relation


def parse_relation(text: str) -> str | Relation:
    """What follows FROM: a table's name, or joins and sub-queries in brackets.

    >>> parse_relation("visits")
    'visits'
    >>> parse_relation("visits AS v JOIN wards AS w USING (ward)").kind
    'inner'
    """
    if isinstance(text, str) and text.isidentifier():
        return text
    text = _with_quotes(text)
    _measure(text)
    try:
        select = _parse_select(f"SELECT 1 FROM {text}")
        if {name for name, value in select.args.items() if value} <= _FROM:
            return _plain_name(read_from(select))
    except RecursionError:
        raise _too_nested() from None
    raise InvalidQuery(f"{text[:80]!r} is not a table. Name a table, or JOIN several.")


def parse_expression(text: str) -> Expression:
    """One row expression, such as the `where` of the Python builder.

    >>> str(parse_expression("age >= 18 AND ward = 'A'"))
    "((age >= 18) AND (ward = 'A'))"
    """
    text = _with_quotes(text)
    _measure(text)
    try:
        return read_expression(_only_statement(text))
    except RecursionError:
        raise _too_nested() from None


def _with_quotes(text: str) -> str:
    """The text with names in double quotes; what is not a text is refused later."""
    return quote_names(text) if isinstance(text, str) and len(text) <= _LONGEST else text


def _statement(text: str) -> exp.Expr:
    text, top = _without_top(text)
    select = _parse_select(text)
    if top is not None:
        if select.args.get("limit"):
            raise InvalidQuery("TOP and LIMIT mean the same. Use one of them.")
        select.set("limit", exp.Limit(expression=exp.Literal.number(top)))
    return select


def _parse_select(text: str) -> exp.Expr:
    """The only SELECT in a text, without WITH."""
    select = expand_with(_only_statement(text))
    while isinstance(select, exp.Subquery) and not select.alias:
        select = select.this
    if isinstance(select, exp.Union):
        raise InvalidQuery(
            "UNION of answers is not supported. Ask for each answer on its own, or put UNION "
            "ALL into FROM: SELECT COUNT(*) FROM (SELECT ... UNION ALL SELECT ...)."
        )
    if not isinstance(select, exp.Select):
        raise InvalidQuery(
            "Only SELECT statements are answered. Found "
            f"{type(select).__name__.upper()}: {quote_sql(select)}"
        )
    return select


def _only_statement(text: str) -> exp.Expr:
    """The only statement in a text, or the expression that it is."""
    return _read_once(text).copy()


@lru_cache(maxsize=4)  # a statement that is taken apart is read again
def _read_once(text: str) -> exp.Expr:
    try:
        statements = parse_statements(text)
    except RecursionError:
        raise _too_nested() from None
    except Exception as problem:  # sqlglot has errors of its own, and others where it is wrong
        raise _not_understood(text, problem) from None
    for statement in statements:
        check_json_paths(statement)
    joined = re.search(r"\b(STRING_AGG|LISTAGG|GROUP_CONCAT)\s*\(", text, re.IGNORECASE)
    for node in (node for tree in statements for node in tree.walk()):
        start, end = node.meta_get("start"), node.meta_get("end")
        if start is not None:  # places make copies slow
            node.meta.clear()
        if isinstance(node, exp.GroupConcat) and joined:
            node.meta["written"] = joined[1]
        if start is not None and isinstance(node, exp.Func):
            # sqlglot gives some functions another name
            node.meta["written"] = text[start : end + 1]
    if len(statements) != 1:
        raise InvalidQuery(f"Ask one question at a time. Found {len(statements)} statements.")
    return statements[0]


def _measure(text: str) -> list[sqlglot.Token]:
    """The tokens of a text. Refuses text that would take too long to parse."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(
            "The question is empty. Write SQL, such as SELECT COUNT(*) FROM visits."
        )
    if len(text) > _LONGEST:
        raise InvalidQuery(
            f"The question is too long: it has {len(text):,} characters, and at most "
            f"{_LONGEST:,} are allowed."
        )
    check_encodable(text, "The question")
    try:
        tokens = list(read_tokens(text))
    except SqlglotError as problem:
        raise _not_understood(text, problem) from None
    check_json_keys(tokens)
    depth = deepest = 0
    for token in tokens:
        word = token.text.upper()
        depth += (word in ("(", "[", "{", "CASE")) - (word in (")", "]", "}", "END"))
        deepest = max(deepest, depth)
    if deepest > _DEEPEST or len(tokens) > _MOST_TOKENS or _longest_run(tokens) > _DEEPEST:
        raise _too_deep()
    return tokens


def check_encodable(text: str, what: str) -> None:
    """Refuses text that cannot be sent to an engine, before anything is charged.

    >>> check_encodable("w = '\\ud800'", "The question")
    Traceback (most recent call last):
    deniable.errors.InvalidQuery: The question has a lone surrogate at position 6...
    """
    if "\x00" in text:
        raise InvalidQuery(
            f"{what} has the character NUL at position {text.index(chr(0)) + 1:,}, which "
            "engines read as the end of the text. Remove it."
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise InvalidQuery(
            f"{what} has a lone surrogate at position {problem.start + 1:,}. It is half of a "
            "character, and UTF-8 cannot encode it. Write the whole character, or remove it."
        ) from None


def _too_deep() -> InvalidQuery:
    return InvalidQuery(
        f"The question is too deep or too long: at most {_DEEPEST} levels of brackets, "
        f"{_DEEPEST} signs in a row and {_MOST_TOKENS:,} words are allowed."
    )


def _too_nested() -> InvalidQuery:
    return InvalidQuery(
        "The question nests too deeply to be read: it has about twenty or more levels of CASE, "
        "functions, brackets or sub-queries. Move the inner ones into a sub-query of FROM, or "
        "into WITH."
    )


def _longest_run(tokens: list[sqlglot.Token]) -> int:
    """The longest run of signs and NOTs, or the number of arrows and ][ in the text: each of
    them nests the tree by one level."""
    longest = run = arrows = 0
    before = ""
    for token in tokens:
        word = token.text.upper()
        run = run + 1 if word in ("-", "+", "~", "NOT", "!") else 0
        arrows += word in ("->", "->>") or before + word == "]["
        longest, before = max(longest, run, arrows), word
    return longest


@lru_cache(maxsize=4)
def _without_top(text: str) -> tuple[str, str | None]:
    """The text without TOP n after SELECT, and the n."""
    tokens = _measure(text)
    words = [token.text.upper() for token in tokens[:5]]
    if words[:2] != ["SELECT", "TOP"]:
        return text, None
    places = [3, 4] if words[2:5:2] == ["(", ")"] else [2, 2]  # TOP (3), or TOP 3
    number, last = (tokens[min(place, len(tokens) - 1)] for place in places)
    if not number.text.isdigit():
        return text, None
    return text[: tokens[1].start] + text[last.end + 1 :], number.text


def _not_understood(text: str, problem: Exception) -> InvalidQuery:
    errors = getattr(problem, "errors", None)
    where = ""
    if errors:
        first = errors[0]
        where = f" Near line {first.get('line')}, column {first.get('col')}."
    hint = advise_unparsed(text) or "Check the spelling, quotes and brackets."
    return InvalidQuery(f"This is not valid SQL.{where} Found {text[:80]!r}. {hint}")


def _read_order(order: exp.Expr | None, outputs: int) -> tuple[tuple[Expression, bool], ...]:
    """What ORDER BY lists, and whether downwards. ORDER BY ALL lists all outputs."""
    if order is None:
        return ()
    check_count(order.expressions, "ORDER BY")
    listed: list[tuple[Expression, bool]] = []
    for node in order.expressions:
        down = bool(node.args.get("desc"))
        if isinstance(node.this, exp.Var) and node.this.name.upper() == "ALL":
            listed += [(Literal(Fraction(place + 1)), down) for place in range(outputs)]
        else:
            listed.append((read_expression(node.this), down))
    return tuple(listed)


def _read_limit(limit: exp.Expr | None) -> int | None:
    if limit is None:
        return None
    fetch = isinstance(limit, exp.Fetch)  # FETCH FIRST 3 ROWS ONLY
    number = limit.args.get("count") if fetch else limit.expression
    options = limit.args.get("limit_options")
    share = options is not None and any(
        options.args.get(option) for option in ("percent", "with_ties")
    )
    whole = isinstance(number, exp.Literal) and not number.is_string and number.this.isdigit()
    if not isinstance(number, exp.Literal) or share or not whole or len(number.this) > 18:
        clause = "FETCH FIRST n ROWS ONLY" if fetch else "LIMIT"
        raise InvalidQuery(
            f"{clause} takes a whole number below 1e18"
            f"{', without PERCENT and WITH TIES' if fetch else ''}."
        )
    return int(number.this)
