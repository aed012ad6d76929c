"""Text that DuckDB reads as a number or a date: patterns that work in every engine.

A number may have underscores between digits and white space around it. A day or moment is
written as in ISO 8601. A zone after it (Z, UTC or an offset) is ignored, as DuckDB does in a
cast to TIMESTAMP. DuckDB also reads "epoch", "infinity", "24:00", names of zones, days before
Christ, years of other lengths and days with slashes; in other engines such text is no day.
"""

_SPACE = "[ \\t\\n\\v\\f\\r]*"
_DIGITS = "[0-9]+(_[0-9]+)*"
_PLAIN = f"({_DIGITS}([.]({_DIGITS})?)?|[.]{_DIGITS})([eE][+-]?{_DIGITS})?"
NUMBER = f"^{_SPACE}[+]?-?{_PLAIN}{_SPACE}$"
INFINITE = f"^{_SPACE}[+]?-?[iI][nN][fF]([iI][nN][iI][tT][yY])?{_SPACE}$"
NOT_A_NUMBER = f"^{_SPACE}[+]?-?[nN][aA][nN]{_SPACE}$"
NOISE = "[+_ \\t\\n\\v\\f\\r]"  # ignored inside a number

_TWO = "([0-9]{1,2})"
_TIME = f"[ T]{_TWO}:{_TWO}(?::{_TWO}(?:[.]([0-9]{{1,6}})[0-9]*)?)?"
_ZONE = "(?: ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2}(?::[0-9]{2})?)?)| UTC)?"
MOMENT_PARTS = f"^([0-9]{{4}})-{_TWO}-{_TWO}(?:{_TIME}{_ZONE})?$"  # year to microseconds
_DAY = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = "[ T][0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:[.][0-9]+)?)?"
MOMENT = f"^({_DAY})(?:({_CLOCK}){_ZONE})?$"  # its day, and its time without a zone

TRUE = ("true", "t", "yes", "y", "1")
FALSE = ("false", "f", "no", "n", "0")
