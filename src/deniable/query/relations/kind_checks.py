"""Checks of the kinds and limits of arguments, and the refusals of those that do not fit."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from deniable.errors import InvalidQuery
from deniable.exact.suggestions import declaration
from deniable.policy import Table
from deniable.query.language.spellings.written_windows import WINDOW
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression, Literal
from deniable.query.relations.basic_functions import ANY, Function
from deniable.query.relations.value_ranges import ValueRange

_Part = TypeVar("_Part")
_DECIMAL = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?")
_COMPARED = ("=", "<>", "in", "<", "<=", ">", ">=")


def check_kinds(
    call: Call, kind: str | tuple[str, ...] | None, kinds: Sequence[str | None]
) -> None:
    """Refuses arguments of the wrong kinds; None is the kind of NULL, which fits all."""
    if isinstance(kind, tuple):
        last = len(kind) - 1
        wrong = [
            argument_kind
            for i, argument_kind in enumerate(kinds)
            if argument_kind not in (kind[min(i, last)], None)
        ]
        takes = ", then ".join(kind)
    else:
        different = {argument_kind for argument_kind in kinds if argument_kind is not None}
        allowed = different if kind == "same" else {kind}
        wrong = (
            []
            if kind is None or (different <= allowed and len(different) < 2)
            else sorted(different)
        )
        takes = "values of one kind" if kind == "same" else str(kind)
    if wrong:
        names = ", ".join(
            sorted({str(argument_kind) for argument_kind in kinds if argument_kind is not None})
        )
        raise InvalidQuery(
            f"{call} mixes kinds: it takes {takes}. Found {names}. {_mended(call, kind, kinds)}"
        )


def _mended(call: Call, kind: object, kinds: Sequence[str | None]) -> str:
    """The call with its texts as numbers, or put together; else what to do."""
    if call.name == "+" and set(kinds) == {"text"}:
        return f"To put texts together, write {Call('joined', call.arguments)}."
    numeric = set(kinds) == {"number", "text"} and kind in ("number", "same")
    if not numeric or len(kinds) != len(call.arguments):
        return "CAST one of them."
    pairs = zip(call.arguments, kinds, strict=True)
    numbers = tuple(_as_number(part) if own == "text" else part for part, own in pairs)
    return f"If the text holds numbers, write {Call(call.name, numbers)}."


def _as_number(part: Expression) -> Expression:
    text = part.value if isinstance(part, Literal) else None
    if isinstance(text, str) and _DECIMAL.fullmatch(text):
        return Literal(Fraction(text))
    return Call("cast number", (part,))


def read_number(expression: Expression) -> Expression:
    """A text of digits that is compared with a number is a number, as in DuckDB."""
    text = expression.value if isinstance(expression, Literal) else None
    whole = isinstance(text, str) and text.isascii() and text.removeprefix("-").isdigit()
    return Literal(Fraction(str(text))) if whole and len(str(text)) <= 18 else expression


def compare_alike(
    name: str,
    arguments: tuple[Expression, ...],
    kinds: Sequence[str | None],
    integers: Sequence[bool],
) -> tuple[Expression, ...]:
    """The arguments of a comparison, where DuckDB casts one of them: a text beside a number if
    both may be equal, and a truth value beside a number or its own name. Other texts are
    NULL."""
    present = {kind for kind in kinds if kind is not None}
    if present == {"number", "text"} and all(isinstance(part, Literal) for part in arguments):
        return tuple(map(read_number, arguments))
    if present == {"number", "text"} and name in ("=", "<>", "in"):
        others = [
            whole for kind, whole in zip(kinds, integers, strict=True) if kind == "number"
        ]
        cast, kind = "cast integer" if all(others) else "cast number", "text"
    elif present == {"boolean", "number"} and name in _COMPARED:
        cast, kind = "cast integer", "boolean"
    elif present == {"boolean", "text"}:
        return tuple(map(_read_truth, arguments))
    else:
        return arguments
    return tuple(
        Call(cast, (part,)) if own == kind and not isinstance(part, Literal) else part
        for part, own in zip(arguments, kinds, strict=True)
    )


def _read_truth(part: Expression) -> Expression:
    word = str(part.value).lower() if isinstance(part, Literal) else ""
    return Literal(word == "true") if word in ("true", "false") else part


def case_parts(parts: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """The conditions of CASE, and its values."""
    odd = len(parts) % 2
    return [*parts[: len(parts) - odd : 2]], [*parts[1::2], *(parts[-1:] if odd else ())]


def check_case(call: Call, kinds: Sequence[str | None]) -> None:
    """Refuses a CASE whose conditions are not boolean, or whose values differ in kind."""
    conditions, branches = case_parts(kinds)
    if any(kind not in ("boolean", None) for kind in conditions):
        raise InvalidQuery(f"{call}: The condition after WHEN must be true or false.")
    values = {kind for kind in branches if kind is not None}
    if len(values) > 1:
        raise InvalidQuery(
            f"{call}: All values of CASE must have one kind. Found "
            f"{' and '.join(sorted(values))}. CAST one of them."
        )


JOINING = frozenset(["joined", "concat"])  # these put texts together


def check_joined(call: Call, integers: Sequence[bool], ranges: Sequence[ValueRange]) -> None:
    """Refuses what has no text of its own: dates, truth values, and numbers with a point."""
    for part, integer, values in zip(call.arguments, integers, ranges, strict=True):
        if values.kind not in ("text", None) and not (values.kind == "number" and integer):
            raise InvalidQuery(
                f"{part} is {values.kind}, and {call} puts texts and integers together. Write "
                f"CAST({part} AS TEXT), or of a date EXTRACT(year FROM {part})."
            )


def check_replaced(call: Call) -> None:
    """Refuses REPLACE by anything but constants, so that it is known how much it grows."""
    old, new = (
        part.value if isinstance(part, Literal) and isinstance(part.value, str) else None
        for part in call.arguments[1:]
    )
    if not old or new is None:
        raise InvalidQuery(
            f"{call}: The second and the third argument must be constants, and the second not "
            f"empty, as in REPLACE({call.arguments[0]}, '-', ''). Otherwise nobody knows how "
            "much longer a text becomes."
        )


def flatten(call: Call) -> list[Expression]:
    """The texts that a chain of `||` puts together."""
    parts: list[Expression] = []
    for part in call.arguments:
        same = isinstance(part, Call) and part.name == call.name
        parts += flatten(part) if same and isinstance(part, Call) else [part]
    return parts


def as_text(part: Expression, values: ValueRange) -> Expression:
    """A part of a text: a number is written as one."""
    return Call("cast text", (part,)) if values.kind == "number" else part


def not_in_rows(call: Call) -> str:
    """Why a function of released values is not one of rows."""
    if call.name == WINDOW:
        return (
            f"{call} is not supported here: a window function depends on other people's rows. "
            "Select it in a sub-query, as in SELECT AVG(cost) FROM (SELECT cost, ROW_NUMBER() "
            "OVER (PARTITION BY patient ORDER BY day) AS n FROM visits) WHERE n = 1, or use a "
            "sub-query with GROUP BY the privacy unit."
        )
    return (
        f"{call} is not supported in rows. docs/reference/sql.md lists the functions of rows."
    )


def declare(argument: Expression, table: Table, *, bounds: bool = False) -> str:
    """How to declare the keys or the bounds of a column; of elements, those of their list."""
    name = argument.name if isinstance(argument, ColumnRef) else str(argument)
    column = next((c for n, c in table.columns.items() if n.lower() == name.lower()), None)
    if column is None:
        return declaration(name, bounds=bounds)
    lists = column.of_list is not None
    return declaration(column.of_list or column.name, bounds=bounds, lists=lists)


def not_a_number(argument: Expression, kind: str | None, table: Table) -> str:
    """Why an argument cannot be added up, and how bounds of a column are declared."""
    hint = "COUNT it, or ask for its most frequent values with MODE or TOP_K."
    if kind == "date":
        hint = (
            f"Ask for the first or last day, MIN(DATE({argument})) or MAX(DATE({argument})), "
            f"or about a number, such as EXTRACT(hour FROM {argument})."
        )
    if kind == "text" and isinstance(argument, ColumnRef):
        how = declare(argument, table, bounds=True)
        hint += (
            "\n  All columns of a CSV file are text unless declared. If it holds numbers, "
            f"declare bounds in the policy, for example   {how}"
        )
    return f"{argument} is {kind or 'NULL'}, and only numbers can be added up or ranked. {hint}"


def no_limit(argument: Expression, table: Table) -> str:
    """Why an argument without bounds cannot be added up, and how those of a column are
    declared."""
    if isinstance(argument, ColumnRef):
        how = declare(argument, table, bounds=True)
        return (
            f"{argument} has no limit: one person could change the answer by any amount.\n"
            f"  Declare bounds in the policy, for example   {how}"
        )
    return (
        f"{argument} has no limit: one person could change the answer by any amount.\n"
        f"  Declare bounds for its columns in the policy, or write CLAMP({argument}, 0, 1000)."
    )


def taken_by(function: Function) -> str:
    """How many arguments a function takes, for an error message."""
    if function.most == ANY:
        return f"it takes {function.least} or more"
    if function.least == function.most:
        return f"it takes {function.least}"
    return f"it takes {function.least} to {function.most}"
