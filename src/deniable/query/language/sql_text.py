"""Calls printed as the SQL that makes them, for messages, notes and names of columns."""

from collections.abc import Callable, Sequence

_INFIX = {"+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like", "ilike"}
_SIGNS = {"mod": "%", "quotient": "//", "is distinct": "IS DISTINCT FROM", "joined": "||"}
_SIGNS["json text"] = "->>"
_NAMES = {"round to": "ROUND", "ends with": "SUFFIX"}
_CASTS = {
    "cast integer": "INTEGER",
    "cast number": "DOUBLE",
    "cast text": "TEXT",
    "cast boolean": "BOOLEAN",
    "cast date": "TIMESTAMP",
}


def call_text(name: str, arguments: Sequence[str]) -> str:
    """A function or operator of our trees, as SQL.

    >>> call_text("round to", ["x", "2"]), call_text("days between", ["a", "b"])
    ('ROUND(x, 2)', "DATE_DIFF('day', a, b)")
    """
    if name in _INFIX and len(arguments) > 1:
        return "(" + f" {name.upper()} ".join(arguments) + ")"
    if name in _SIGNS:
        return "(" + f" {_SIGNS[name]} ".join(arguments) + ")"
    if name in _CASTS:
        return f"CAST({arguments[0]} AS {_CASTS[name]})"
    if name.endswith(" between"):
        unit = name.removesuffix("s between")
        return f"DATE_DIFF('{unit}', {', '.join(arguments)})"
    if name.endswith("s later"):
        return _moved(name.removesuffix("s later"), *arguments)
    if name.startswith("start of "):
        return _truncated(name.removeprefix("start of "), arguments[0])
    written = _SPECIAL.get(name)
    if written is not None:
        return written(arguments)
    known = _NAMES.get(name, name.upper().replace(" ", "_"))
    return f"{known}({', '.join(arguments)})"


def _truncated(unit: str, date: str) -> str:
    cast = unit == "day" and date.startswith("CAST(") and date.endswith(" AS TIMESTAMP)")
    if cast:
        return f"{date.removesuffix('TIMESTAMP)')}DATE)"
    return f"DATE_TRUNC('{unit}', {date})"


def _moved(unit: str, date: str, count: str) -> str:
    """A date that is moved.

    >>> _moved("day", "d", "-2"), _moved("month", "d", "n")
    ('d - INTERVAL 2 DAY', 'd + INTERVAL (n) MONTH')
    """
    size = count.removeprefix("-")
    sign, size = (
        ("-" if size != count else "+", size) if size.isdigit() else ("+", f"({count})")
    )
    return f"{date} {sign} INTERVAL {size} {unit.upper()}"


def _case(arguments: Sequence[str]) -> str:
    pairs = zip(arguments[:-1:2], arguments[1::2], strict=False)
    branches = [f"WHEN {condition} THEN {value}" for condition, value in pairs]
    other = arguments[-1] if len(arguments) % 2 else "NULL"
    branches += [] if other == "NULL" else [f"ELSE {other}"]
    return f"CASE {' '.join(branches)} END"


def _window_text(arguments: Sequence[str]) -> str:
    """A window as SQL, from its parts as SQL.

    >>> _window_text(["LAG(day, 1)", "PARTITION BY patient", "ORDER BY day"])
    'LAG(day, 1) OVER (PARTITION BY patient ORDER BY day)'
    """
    return f"{arguments[0]} OVER ({' '.join(part for part in arguments[1:] if part)})"


def _frame_text(ends: Sequence[str]) -> str:
    """A frame as SQL.

    >>> _frame_text(["NULL", "-2"])
    'ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING'
    """
    start, end = ends
    words = [
        "UNBOUNDED PRECEDING" if start == "NULL" else _end_text(start),
        "UNBOUNDED FOLLOWING" if end == "NULL" else _end_text(end),
    ]
    return f"ROWS BETWEEN {' AND '.join(words)}"


def _end_text(end: str) -> str:
    away = int(end)
    side = "PRECEDING" if away < 0 else "FOLLOWING"
    return f"{abs(away)} {side}" if away else "CURRENT ROW"


_SPECIAL: dict[str, Callable[[Sequence[str]], str]] = {
    "window": _window_text,
    "partitioned": lambda a: f"PARTITION BY {', '.join(a)}",
    "ordered": lambda a: f"ORDER BY {', '.join(a)}" if a else "",
    "frame": _frame_text,
    "up": lambda a: a[0],
    "down": lambda a: f"{a[0]} DESC",
    "count": lambda a: f"COUNT({a[0] if a else '*'})",
    "negative": lambda a: f"-({a[0]})" if a[0].startswith("-") else f"-{a[0]}",
    "not": lambda a: f"NOT ({a[0]})",
    "is null": lambda a: f"({a[0]} IS NULL)",
    "in": lambda a: f"({a[0]} IN ({', '.join(a[1:])}))",
    "like escape": lambda a: f"({a[0]} LIKE {a[1]} ESCAPE {a[2]})",
    "ilike escape": lambda a: f"({a[0]} ILIKE {a[1]} ESCAPE {a[2]})",
    "case": _case,
}
