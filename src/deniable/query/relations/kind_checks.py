"""Checks that the arguments of a call have the right kinds: number, text, boolean or date."""

from collections.abc import Sequence
from typing import TypeVar

from deniable.errors import InvalidQuery
from deniable.query.language.syntax_tree import Call

_Part = TypeVar("_Part")


def check_kinds(
    call: Call, kind: str | tuple[str, ...] | None, found: Sequence[str | None]
) -> None:
    """Refuses arguments of the wrong kinds; None is the kind of NULL, which fits all."""
    if isinstance(kind, tuple):
        last = len(kind) - 1
        wrong = [
            given for i, given in enumerate(found) if given not in (kind[min(i, last)], None)
        ]
        takes = ", then ".join(kind)
    else:
        kinds = {given for given in found if given is not None}
        allowed = kinds if kind == "same" else {kind}
        wrong = [] if kind is None or (kinds <= allowed and len(kinds) < 2) else sorted(kinds)
        takes = "values of one kind" if kind == "same" else str(kind)
    if wrong:
        shown = ", ".join(sorted({str(given) for given in found if given is not None}))
        raise InvalidQuery(
            f"{call} mixes kinds: it takes {takes}. Found {shown}. CAST one of them."
        )


def case_parts(parts: Sequence[_Part]) -> tuple[list[_Part], list[_Part]]:
    """The conditions of CASE, and its values."""
    odd = len(parts) % 2
    return [*parts[: len(parts) - odd : 2]], [*parts[1::2], *(parts[-1:] if odd else ())]


def check_case(call: Call, found: Sequence[str | None]) -> None:
    """Refuses a CASE whose conditions are not boolean, or whose values differ in kind."""
    conditions, branches = case_parts(found)
    if any(kind not in ("boolean", None) for kind in conditions):
        raise InvalidQuery(f"{call}: The condition after WHEN must be true or false.")
    values = {kind for kind in branches if kind is not None}
    if len(values) > 1:
        raise InvalidQuery(
            f"{call}: All values of CASE must have one kind. Found "
            f"{' and '.join(sorted(values))}. CAST one of them."
        )
