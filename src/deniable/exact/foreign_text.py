"""Text that others wrote: read as JSON within limits, and shown without hidden characters.

Releases, ledgers, keys and reports come from files that anyone may have made. `read_json` reads
all of them. It counts bytes, values and levels before it parses, and digits before it converts
a number, so a small file cannot take long or fill the memory.
"""

import html
import json
import math
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np

MOST_BYTES = 100_000_000
MOST_VALUES = 10_000_000
MOST_LEVELS = 200  # a sum of ninety terms makes about 190
MOST_DIGITS = 400
LONGEST_SHOWN = 200  # characters of a foreign text inside one of our sentences

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_RATIONAL = re.compile(r"-?([0-9]+)(?:/([0-9]+))?", re.ASCII)
_NAME = re.compile(r"\w[\w.-]{0,63}")


def read_json(source: str | bytes) -> Any:
    """JSON from text. Anything doubtful raises a ValueError that says what is wrong.

    Refused are: a key twice in one object, NaN and infinity, also as in 1e999, half of a
    surrogate pair, and whatever exceeds the limits above.

    >>> read_json('{"a": [1, 0.5]}')
    {'a': [1, 0.5]}
    >>> read_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: an object has the key 'a' twice
    """
    data, text = _decode(source)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is longer than {MOST_BYTES:,} bytes")
    opened = data.count(b"[") + data.count(b"{")
    if opened + data.count(b",") > MOST_VALUES:
        raise ValueError(f"it holds more than {MOST_VALUES:,} values")
    if opened > MOST_LEVELS and nests_deeper(data, MOST_LEVELS):
        raise ValueError(f"it nests deeper than {MOST_LEVELS} levels")
    try:
        read = _DECODER.decode(text)
    except RecursionError:  # the caller has used up the levels
        raise ValueError("it nests too deeply") from None
    if "\\ud" in text or "\\uD" in text:
        _decode(json.dumps(read, ensure_ascii=False))
    return read


def read_rational(text: object, *, most_digits: int = MOST_DIGITS) -> Fraction:
    """The number that a text such as "3/4" stands for; a ValueError for anything else.

    It has no exponent, because 1e10000000 written out would fill the memory.

    >>> read_rational("3/4"), read_rational("-2")
    (Fraction(3, 4), Fraction(-2, 1))
    """
    match = _RATIONAL.fullmatch(text) if isinstance(text, str) else None
    if match is None or max(map(len, match.groups(""))) > most_digits:
        raise ValueError('a number must be written like "3/4", and not be too long')
    top, _, bottom = match.group().partition("/")
    if bottom and not int(bottom):
        raise ValueError("a number is divided by zero")
    return Fraction(int(top), int(bottom or 1))


def printable(text: str) -> str:
    """The text with escapes for all characters that a terminal or a page would not show.

    These are control characters (so no escape sequence reaches a terminal), line ends, and
    marks that change the direction of writing.

    >>> printable("Bob\\x1b[2J\\n"), printable("Zoë")
    ('Bob\\\\x1b[2J\\\\n', 'Zoë')
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def quoted(text: str, *, most: int = LONGEST_SHOWN) -> str:
    """A foreign text inside a sentence of ours: a name as it is, all else in quotation marks.

    So it cannot be taken for our own words.

    >>> quoted("visits"), quoted('all is well." True')
    ('visits', '"all is well.\\\\" True"')
    """
    if _NAME.fullmatch(text):
        return text
    if len(text) > most:
        text = f"{text[: most - 3]}..."
    return printable(json.dumps(text, ensure_ascii=False))


def escape_html(text: str) -> str:
    """The text for a page: no markup, and no character that would not be shown.

    >>> escape_html("<b>\\x00")
    '&lt;b&gt;\\\\x00'
    """
    return html.escape(printable(text))


def _decode(source: str | bytes) -> tuple[bytes, str]:
    """The text as UTF-8, and as characters."""
    try:
        if isinstance(source, str):
            return source.encode("utf-8"), source
        return source, source.decode("utf-8")
    except UnicodeError:
        raise ValueError("it is not valid Unicode, written as UTF-8") from None


def nests_deeper(data: bytes, levels: int) -> bool:
    """Whether JSON nests deeper than this, by its brackets outside of strings.

    >>> nests_deeper(b'[["[[["]]', 2), nests_deeper(b'[["[[["]]', 1)
    (False, True)
    """
    if data.count(b"[") + data.count(b"{") <= levels:
        return False
    brackets = _STRING.sub(b"", data).translate(None, _NO_BRACKETS)
    opens = np.frombuffer(brackets, np.uint8) & 4 == 0  # the bit in which "[" and "]" differ
    return int(np.cumsum(np.where(opens, 1, -1)).max(initial=0)) > levels


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {twice[:60]!r} twice")
    return fields


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number")


def _read_integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has more than {MOST_DIGITS} digits")
    return int(digits)


def _read_float(digits: str) -> float:
    number = float(digits) if len(digits) <= MOST_DIGITS else math.inf
    if not math.isfinite(number):
        raise ValueError("a number is too long, or too large for a double")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_repeats,
    parse_constant=_refuse_constant,
    parse_int=_read_integer,
    parse_float=_read_float,
)
