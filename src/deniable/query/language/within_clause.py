"""How near an answer should be, said at the end of its SQL: WITHIN 50 CONFIDENCE 0.95.

    SELECT COUNT(*) FROM visits WITHIN 50
    SELECT COUNT(*) FROM visits WITHIN 5 PERCENT OF 10000 CONFIDENCE 0.99

The words are read on the token stream and cut off before SQL is parsed, which knows nothing of
them. WITHIN GROUP is another thing: here a number follows.
"""

from dataclasses import dataclass
from fractions import Fraction

import sqlglot
from sqlglot.errors import SqlglotError

from deniable.errors import InvalidQuery

_SHAPE = "WITHIN 50 [PERCENT OF 10000] [CONFIDENCE 0.95]"
_LONGEST = 10  # tokens
_MOST = 100_000  # characters


@dataclass(frozen=True, slots=True)
class AccuracyGoal:
    """What a question's last words ask for; `of` is the size that a share is of."""

    margin: Fraction
    of: Fraction | None = None
    confidence: Fraction | None = None


def split_within_clause(text: str) -> tuple[str, AccuracyGoal | None]:
    """The question without its last words, and what they ask for.

    >>> split_within_clause("SELECT COUNT(*) FROM visits WITHIN 50 CONFIDENCE 0.9")
    ('SELECT COUNT(*) FROM visits ', AccuracyGoal(margin=Fraction(50, 1), of=None,
    confidence=Fraction(9, 10)))
    >>> split_within_clause("SELECT COUNT(*) FROM visits")
    ('SELECT COUNT(*) FROM visits', None)
    """
    if not isinstance(text, str) or len(text) > _MOST or "within" not in text.lower():
        return text, None  # the parser says what is wrong, if anything is
    try:
        tokens = list(sqlglot.tokenize(text, dialect="duckdb"))
    except SqlglotError:
        return text, None
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    for place in range(len(tokens) - 2, max(-1, len(tokens) - _LONGEST), -1):
        # A quoted name or text is longer in the question than its token's text is.
        begin, number = tokens[place], tokens[place + 1]
        bare = text[begin.start : begin.end + 1].upper() == "WITHIN"
        if bare and text[number.start] in "0123456789.":
            return text[: tokens[place].start], _read(tokens[place + 1 :])
    return text, None


def _read(tokens: list[sqlglot.Token]) -> AccuracyGoal:
    words: list[str] = []
    for token in tokens:
        if words and words[-1] == ".":  # .5 comes as two tokens
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
            f"WITHIN is the last thing that a question says: {_SHAPE}. Found {words[0]!r} "
            "where it should end."
        )
    return AccuracyGoal(margin, of, confidence)


def _number(word: str) -> Fraction:
    try:
        if len(word) < 40 and 1e-30 < float(word) < 1e30:
            return Fraction(word)
    except ValueError:
        pass
    raise InvalidQuery(f"{word[:40]!r} is no number to be WITHIN: write {_SHAPE}.")
