"""The accuracy that a question asks for, at the end of its SQL: WITHIN 50 CONFIDENCE 0.95.

    SELECT COUNT(*) FROM visits WITHIN 50
    SELECT COUNT(*) FROM visits WITHIN 5 PERCENT OF 10000 CONFIDENCE 0.99

The clause is not SQL: it is read from the tokens and removed before the SQL is parsed. WITHIN
GROUP is something else: this clause has a number after WITHIN.
"""

from dataclasses import dataclass
from fractions import Fraction

import sqlglot
from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery
from deniable.query.language.quoted_names import quote_names
from deniable.query.language.spellings.sql_parser import read_tokens

_SHAPE = "WITHIN 50 [PERCENT OF 10000] [CONFIDENCE 0.95]"
_MOST_TOKENS = 10  # of the clause
_LONGEST = 100_000  # characters of the question


@dataclass(frozen=True, slots=True)
class AccuracyGoal:
    """A margin, absolute or as a share of `of`, and a confidence."""

    margin: Fraction
    of: Fraction | None = None
    confidence: Fraction | None = None


def split_within_clause(text: str) -> tuple[str, AccuracyGoal | None]:
    """The question without its WITHIN clause, and what the clause asks for.

    >>> split_within_clause("SELECT COUNT(*) FROM visits WITHIN 50 CONFIDENCE 0.9")
    ('SELECT COUNT(*) FROM visits ', AccuracyGoal(margin=Fraction(50, 1), of=None,
    confidence=Fraction(9, 10)))
    >>> split_within_clause("SELECT COUNT(*) FROM visits")
    ('SELECT COUNT(*) FROM visits', None)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or "within" not in text.lower():
        return text, None  # the parser reports what is wrong with the text
    text = quote_names(text)
    try:
        tokens = list(read_tokens(text))
    except SqlglotError:
        return text, None
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    for place in range(len(tokens) - 2, max(-1, len(tokens) - _MOST_TOKENS), -1):
        # The text of the token of a quoted name lacks the quotes, so look at the question.
        begin, number = tokens[place], tokens[place + 1]
        bare = text[begin.start : begin.end + 1].upper() == "WITHIN"
        if bare and text[number.start] in "0123456789.":
            return text[: tokens[place].start], _read(tokens[place + 1 :])
    return text, None


def _read(tokens: list[sqlglot.Token]) -> AccuracyGoal:
    words: list[str] = []
    for token in tokens:
        if words and words[-1] == ".":  # .5 is two tokens
            words[-1] = f"0.{token.text}"
        else:
            words.append(token.text.upper())
    margin, words = _number(words[0]), words[1:]
    of = confidence = None
    if words[:2] in (["PERCENT", "OF"], ["%", "OF"]) and len(words) > 2:
        margin, of, words = margin / 100, _number(words[2]), words[3:]
    if words[:1] == ["CONFIDENCE"] and len(words) > 1:
        confidence, words = _number(words[1]), words[2:]
    if words:
        raise InvalidQuery(
            f"WITHIN must be the end of the question: {_SHAPE}. Found {words[0]!r} after it."
        )
    return AccuracyGoal(margin, of, confidence)


def _number(word: str) -> Fraction:
    try:
        if len(word) < 40 and 1e-30 < float(word) < 1e30:
            return Fraction(word)
    except ValueError:
        pass
    raise InvalidQuery(
        f"WITHIN needs a number between 1e-30 and 1e30. Found {word[:40]!r}. Write {_SHAPE}."
    )
