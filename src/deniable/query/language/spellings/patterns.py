"""Constant regular expressions, as LIKE and other tests of text that every engine has.

A pattern of plain characters, classes such as [0-3], alternatives (a|b), optional characters,
`.` and `.*` means one of a few patterns of LIKE. Others are refused.
"""

from itertools import product

from sqlglot import exp

from deniable.errors import InvalidQuery

_MOST = 64  # patterns that one regular expression may become
_CLASSES = {"d": "0123456789"}
_SPECIAL = set("\\^$.|?*+()[]{}")
ANY, RUN = "\0", "\1"  # one character, and any number of them
_EXAMPLE = "It may hold plain characters, [0-9], (a|b), x?, . and .*, as in '^A[0-3].*'."


class _Reader:
    """Reads a regular expression into the texts that it may be."""

    def __init__(self, text: str, written: str) -> None:
        self.text, self.place, self.written = text, 0, written

    def refuse(self) -> InvalidQuery:
        return InvalidQuery(
            f"The regular expression {self.written!r} cannot be turned into LIKE. {_EXAMPLE} "
            "Or use LIKE, ILIKE, STARTS_WITH, CONTAINS and OR."
        )

    def peek(self) -> str:
        return self.text[self.place] if self.place < len(self.text) else ""

    def take(self) -> str:
        sign = self.peek()
        if not sign:
            raise self.refuse()
        self.place += 1
        return sign

    def alternatives(self) -> list[str]:
        """Texts until the end, or until a closing bracket."""
        texts = self.sequence()
        while self.peek() == "|":
            self.take()
            texts += self.sequence()
        if len(texts) > _MOST:
            raise self.refuse()
        return texts

    def sequence(self) -> list[str]:
        texts = [""]
        while self.peek() not in ("", "|", ")"):
            options = self.read_atom()
            if self.peek() == "?":
                self.take()
                options = [*options, ""]
            elif self.peek() == "*" and options == [ANY]:
                self.take()
                options = [RUN]
            if self.peek() in ("*", "+", "?", "{"):
                raise self.refuse()
            texts = [a + b for a, b in product(texts, options)]
            if len(texts) > _MOST:
                raise self.refuse()
        return texts

    def read_atom(self) -> list[str]:
        sign = self.take()
        if sign == "(":
            if self.text.startswith("?:", self.place):
                self.place += 2
            texts = self.alternatives()
            if self.take() != ")":
                raise self.refuse()
            return texts
        if sign == "[":
            return self.members()
        if sign == ".":
            return [ANY]
        if sign == "\\":
            escaped = self.take()
            if escaped in _CLASSES:
                return list(_CLASSES[escaped])
            if escaped.isalnum():
                raise self.refuse()
            return [escaped]
        if sign in _SPECIAL or sign in (ANY, RUN):
            raise self.refuse()
        return [sign]

    def members(self) -> list[str]:
        """[abc0-3], without signs that mean something in a class."""
        signs: list[str] = []
        while self.peek() != "]":
            sign = self.take()
            if not (sign.isascii() and (sign.isalnum() or sign in " _:/,;")):
                raise self.refuse()
            last = sign
            if self.peek() == "-":
                self.take()
                last = self.take()
                alike = any(
                    low <= sign <= last <= high
                    for low, high in (("0", "9"), ("a", "z"), ("A", "Z"))
                )
                if not alike:
                    raise self.refuse()
            signs += [chr(code) for code in range(ord(sign), ord(last) + 1)]
        self.take()
        if not signs:
            raise self.refuse()
        return signs


def rewrite_pattern(node: exp.Expr) -> exp.Expr | None:
    """A regular expression with a constant pattern, as LIKE patterns with OR.

    >>> import sqlglot
    >>> node = sqlglot.parse_one("REGEXP_MATCHES(a, '^x[12]')", dialect="duckdb")
    >>> rewrite_pattern(node).sql("duckdb")
    "(STARTS_WITH(a, 'x1') OR STARTS_WITH(a, 'x2'))"
    """
    pattern = node.args.get("expression")
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or node.args.get("flag"):
        raise InvalidQuery(
            "The pattern of a regular expression must be a constant, without flags. " + _EXAMPLE
        )
    whole = isinstance(node, exp.RegexpFullMatch)
    text, first, last = str(pattern.this), whole, whole
    if isinstance(node, exp.SimilarTo) and set(text) & set("%_"):
        raise InvalidQuery("In SIMILAR TO, % and _ are not supported. Use LIKE.")
    first, last = (True, True) if isinstance(node, exp.SimilarTo) else (first, last)
    grouped = "|" in _outside_groups(text)
    if text.startswith("^") and not grouped:
        text, first = text[1:], True
    if text.endswith("$") and not text.endswith("\\$") and not grouped:
        text, last = text[:-1], True
    # One or more at an end that may be anywhere: one is enough.
    if not last and len(text) > 1 and text[-1] == "+" and text[-2] not in "\\|(":
        text = text[:-1]
    reader = _Reader(text, str(pattern.this))
    texts = reader.alternatives()
    if reader.place < len(text):
        raise reader.refuse()
    kind = exp.ILike if isinstance(node, exp.RegexpILike) else exp.Like
    tests = [
        _like(node.this, kind, alternative, first, last, reader)
        for alternative in dict.fromkeys(texts)
    ]
    return exp.paren(exp.or_(*tests)) if len(tests) > 1 else tests[0]


def _outside_groups(text: str) -> str:
    depth, rest = 0, ""
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        rest += sign if depth == 0 else ""
    return rest


def _like(
    value: exp.Expr, kind: type[exp.Expr], text: str, first: bool, last: bool, reader: _Reader
) -> exp.Expr:
    """One pattern. `.` does not match the end of a line, so a text with one must be left out:
    that can be said of the whole text only."""
    text = text if first else text.lstrip(RUN)
    text = text if last else text.rstrip(RUN)
    dots = ANY in text or RUN in text
    if dots and not (first and last):
        raise reader.refuse()
    if kind is exp.Like and not dots:
        return _plain_test(value, text, first, last)
    special = any(sign in "\\%_" for sign in text)
    plain = "".join(f"!{sign}" if special and sign in "!%_" else sign for sign in text)
    pattern = plain.replace(ANY, "_").replace(RUN, "%")
    pattern = ("" if first else "%") + pattern + ("" if last else "%")
    like: exp.Expr = kind(this=value.copy(), expression=exp.Literal.string(pattern))
    if special:  # only DuckDB has ESCAPE
        like = exp.Escape(this=like, expression=exp.Literal.string("!"))
    if not dots:
        return like
    line = exp.Contains(this=value.copy(), expression=exp.Literal.string("\n"))
    return exp.paren(exp.and_(like, exp.Not(this=line)))


def _plain_test(value: exp.Expr, text: str, first: bool, last: bool) -> exp.Expr:
    kinds = {(True, True): exp.EQ, (True, False): exp.StartsWith, (False, True): exp.EndsWith}
    kind = kinds.get((first, last), exp.Contains)
    return kind(this=value.copy(), expression=exp.Literal.string(text))
