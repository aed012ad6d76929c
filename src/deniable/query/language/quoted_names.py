"""Names in backticks (MySQL, Spark) or in brackets (SQL Server), put into double quotes.

A bracket that holds a word is a name: `[staff]`, `[order id]`. Directly after a name or a value
it is an index, `x[i]`, which the parser refuses. A list holds numbers, texts or
several values, and is left as it is. Texts, names in double quotes and comments are left, too.
"""

import re

_BRACKETS = re.compile(r"\[([^\W\d][\w $#@-]{0,199})\]")
# What begins a part that is copied, and what ends it.
_COPIED = {"'": "'", '"': '"', "--": "\n", "/*": "*/", "$$": "$$"}
_BEFORE_NAMES = ",(.=<>"  # or space; a bracket after anything else is an index
_BEGIN = re.compile(r"'|\"|--|/\*|\$\$|`|\[")


def quote_names(text: str) -> str:
    """The text with all its quoted names in double quotes.

    >>> quote_names("SELECT `ward`, [no of beds] FROM [dbo].[wards] WHERE x = ANY ([1, 2])")
    'SELECT "ward", "no of beds" FROM "dbo"."wards" WHERE x = ANY ([1, 2])'
    >>> quote_names("note = 'a `quote` and [brackets]' -- `ward`")
    "note = 'a `quote` and [brackets]' -- `ward`"
    """
    if "`" not in text and "[" not in text:
        return text
    parts: list[str] = []
    at = 0
    while match := _BEGIN.search(text, at):
        begin, sign = match.start(), match.group()
        parts.append(text[at:begin])
        brackets = _BRACKETS.match(text, begin) if _may_be_name(text, begin) else None
        if sign == "[" and brackets is not None:
            parts.append(f'"{brackets.group(1)}"')
            at = brackets.end()
            continue
        if sign == "[":
            parts.append(sign)
            at = begin + 1
            continue
        last = _COPIED.get(sign, sign)
        end = text.find(last, match.end())
        if end < 0:  # the parser says what is missing
            return "".join([*parts, text[begin:]])
        at = end + len(last)
        inner = text[begin + 1 : end].replace('"', '""')
        parts.append(f'"{inner}"' if sign == "`" else text[begin:at])
    return "".join([*parts, text[at:]])


def _may_be_name(text: str, begin: int) -> bool:
    """Whether a bracket that begins here can hold a name: an index follows a value."""
    before = text[begin - 1 : begin]
    return not before or before.isspace() or before in _BEFORE_NAMES
