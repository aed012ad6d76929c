"""Text that DuckDB reads as a number or a date: patterns that work in every engine.

A number may have underscores between digits and white space around it. A day or moment is
written as in ISO 8601, without a zone. (DuckDB also reads "epoch", "infinity", "24:00" and
days before Christ; in other engines such text is not a day.)
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
MOMENT_PARTS = f"^([0-9]{{4}})-{_TWO}-{_TWO}(?:{_TIME})?$"  # year to seconds and microseconds
MOMENT = MOMENT_PARTS.replace("(?:", "(")

TRUE = ("true", "t", "yes", "y", "1")
FALSE = ("false", "f", "no", "n", "0")
