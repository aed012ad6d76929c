"""Names of people and parts, compared as a reader would: not by letter case, blanks or width.

If `Ann`, `ann ` and a fullwidth `Ann` were three analysts, each would have a budget of her own.
The form in which names are compared is that of Unicode's caseless matching (NFKC and case
folding), without characters that are not drawn and with single blanks.
"""

import re
import unicodedata

LONGEST_NAME = 200  # characters

# Unicode's default-ignorable characters that Python calls printable.
_NOT_DRAWN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def compared_name(name: str) -> str:
    """The form in which a name is compared. A ValueError if it is not a name, or too long.

    >>> {compared_name(name) for name in ("Ann", "ann ", "\\uff21nn")}
    {'ann'}
    """
    if not isinstance(name, str) or not name.isprintable():
        raise ValueError(f"must be a name of printable characters; got {name!r}")
    form = name if len(name) > LONGEST_NAME else _fold(name)
    if len(form) > LONGEST_NAME:
        raise ValueError(f"is longer than {LONGEST_NAME} characters: {form[:40]!r}...")
    if not form:
        raise ValueError("has no letter")
    return form


def _fold(name: str) -> str:
    form = ""
    while form != name:  # folding may make letters that can be composed, and the reverse
        form, name = name, unicodedata.normalize("NFKC", _NOT_DRAWN.sub("", name).casefold())
    return " ".join(form.split())
