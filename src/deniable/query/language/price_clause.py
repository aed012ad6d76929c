"""The price of a question at the end of its SQL, for tools that can only send SQL.

    SELECT ward, COUNT(*) FROM visits GROUP BY ward EPSILON 0.5
    SELECT COUNT(*) FROM visits EPSILON 1/2 DELTA 1e-7 CONFIDENCE 0.99

Like WITHIN, the clause is not SQL: it is read from the tokens and removed before the SQL is
parsed. It must be the end of the question, outside of all brackets.
"""

from fractions import Fraction
from typing import Any

from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery
from deniable.query.language.quoted_names import quote_names
from deniable.query.language.spellings.sql_parser import read_tokens

_WORDS = ("EPSILON", "DELTA", "CONFIDENCE")
_MOST_TOKENS = 16  # of the clause
_LONGEST = 100_000  # characters of the question
_SHAPE = "EPSILON 0.5 [DELTA 1e-7] [CONFIDENCE 0.95]"


def split_price_clause(text: str) -> tuple[str, dict[str, Any]]:
    """The question without its clause, and what the clause says, as the options of `sql`.

    >>> split_price_clause("SELECT COUNT(*) FROM visits EPSILON 1/2 DELTA 1e-7")
    ('SELECT COUNT(*) FROM visits ', {'epsilon': Fraction(1, 2),
    'delta': Fraction(1, 10000000)})
    >>> split_price_clause("SELECT epsilon FROM visits")
    ('SELECT epsilon FROM visits', {})
    """
    if not isinstance(text, str) or len(text) > _LONGEST or "epsilon" not in text.lower():
        return text, {}
    text = quote_names(text)
    try:
        tokens = list(read_tokens(text))
    except SqlglotError:
        return text, {}
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    for place in range(len(tokens) - 2, max(0, len(tokens) - _MOST_TOKENS), -1):
        begin, number = tokens[place], tokens[place + 1]
        bare = text[begin.start : begin.end + 1].upper() == "EPSILON"
        if bare and text[number.start] in "0123456789.":
            return text[: begin.start], _read(text[begin.start : tokens[-1].end + 1])
    return text, {}


def _read(clause: str) -> dict[str, Any]:
    """The amounts of a clause, each of which has a name and may be given once."""
    words = clause.replace("/", " / ").split()
    amounts: dict[str, Any] = {}
    while words:
        name, words = words[0].upper(), words[1:]
        amount = words[:1]
        if words[1:2] == ["/"]:
            amount, words = words[:3], words[2:]
        words = words[1:]
        if name not in _WORDS or name.lower() in amounts or not amount:
            raise _unreadable()
        amounts[name.lower()] = _amount("".join(amount))
    return amounts


def _amount(word: str) -> Fraction:
    try:
        top, _, bottom = word.partition("/")
        if all(len(part) < 40 and 1e-30 < float(part) < 1e30 for part in (top, bottom or "1")):
            return Fraction(top) / Fraction(bottom or 1)
    except ValueError:
        pass
    raise _unreadable()


def _unreadable() -> InvalidQuery:
    return InvalidQuery(f"The price at the end of the question cannot be read. Write {_SHAPE}.")
