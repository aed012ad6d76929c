"""A plan as JSON, and back: one canonical text for each, so that a hash can name it.

Only the kinds in `KINDS` can be written or read. Each is a frozen dataclass whose fields are
the arguments that make it again (or says in `_SPELT` which are); a new kind of block needs one
line there, and nothing else. Whole numbers in a row, more than a thousand, are written by the
first of them and how many there are.
A field that holds its default is left out, so that plans keep their hash when a later version
adds a field. Rationals are text such as "3/4", so nothing is ever rounded.

The canonical text has its keys sorted, no spaces, and only ASCII characters.
"""

import dataclasses
import datetime
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from deniable.errors import InvalidCertificate, Unsupported
from deniable.mechanisms import Gaussian, Laplace, PermuteAndFlip, Quantiles, Thresholding
from deniable.policy import Column, Policy, Table
from deniable.policy.budget import Budget, Schedule
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan import plan as parts
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.key_list import listing, unbroken
from deniable.query.plan.plan import Plan

Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

# Everything that a plan may be made of. Names are part of the format: they never change, and
# neither does what a field means.
KINDS: tuple[type, ...] = (
    *(Plan, parts.GroupKey, parts.Block, Contribution, parts.Choice, parts.Output),
    *(parts.Number, parts.Feature, parts.Chosen, parts.KeyColumn, parts.Operation),
    *(Laplace, Gaussian, Thresholding, PermuteAndFlip, Quantiles),
)


def _of_quantiles(one: Quantiles) -> dict[str, object]:
    low, step = one.grid.lowest, one.grid.step
    kept = {name: getattr(one, name) for name in ("quantiles", "epsilon", "odds", "neighbors")}
    bounds = (low, low + (one.grid.size - 1) * step)
    return kept | {"bounds": bounds, "step": step, "method": one.method}


# Where a class is made from something else than its fields: what, and of which types.
_SPELT: dict[type, tuple[Callable[[Any], dict[str, object]], dict[str, Any]]] = {
    Quantiles: (
        _of_quantiles,
        {
            "quantiles": tuple[Fraction, ...],
            "epsilon": Fraction | None,
            "odds": Fraction | None,
            "neighbors": Neighbors,
            "bounds": tuple[Fraction, Fraction],
            "step": Fraction,
            "method": str,
        },
    ),
}
_DECLARED: tuple[type, ...] = (Policy, Table, Column, Budget, Schedule)  # written, never read
_PRIVATE = {"source", "ledger", "ledger_key"}  # where the data lies is nobody's business

_PLAIN = {bool, int, str, NoneType}
_LONG = 1000  # a list of more whole numbers in a row is written by its ends
_MOST = 10**8  # of them
_RATIONAL = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def written(value: object) -> Json:
    """A plan, or any part of one, as JSON.

    >>> written(parts.Block(("n",), "rows", Laplace(epsilon=0.1)))["mechanism"]
    {'class': 'Laplace', 'epsilon': '1/10', 'odds': None, 'sensitivity': '1', 'step': '1'}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Fraction | datetime.date):
        return str(value)
    if isinstance(value, tuple | list):
        if len(value) > _LONG and (run := _run(value)) is not None:
            return run
        if set(map(type, value)) <= _PLAIN:  # a million keys should not take long
            return list(value)
        return [written(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): written(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and type(value) in (*KINDS, *_DECLARED):
        fields = {name: written(one) for name, one in _arguments(value).items()}
        return {"class": type(value).__name__, **fields}
    raise Unsupported(
        f"A {type(value).__name__} has no written form, so it can be part of no plan that is "
        "certified. Add its class to KINDS in query/plan/canonical.py."
    )


def read(found: Json) -> Any:
    """What was written. Refuses whatever no plan could have been written as.

    >>> read(written(Laplace(epsilon=0.1))) == Laplace(epsilon=0.1)
    True
    """
    return _read(found, KINDS)


def text(found: Json) -> str:
    """The canonical text of JSON.

    >>> text({"b": [1, "ü"], "a": None})
    '{"a":null,"b":[1,"\\\\u00fc"]}'
    """
    return json.dumps(found, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: object) -> str:
    """The SHA-256 of a value's canonical text, in hexadecimal.

    >>> digest(Laplace(epsilon=1)) == digest(Laplace(epsilon=1.0))
    True
    """
    return digest_of(written(value))


def digest_of(found: Json) -> str:
    """The SHA-256 of the canonical text of JSON.

    >>> digest_of([1, 2]) == digest_of([2, 1])
    False
    """
    return hashlib.sha256(text(found).encode("ascii")).hexdigest()


def parsed(source: str | bytes) -> Json:
    """JSON from text, with every key once.

    >>> parsed('{"a": 1}')
    {'a': 1}
    """
    try:
        found: Json = json.loads(source, object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError) as problem:
        raise InvalidCertificate(f"This is not JSON: {problem}.") from None
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def _arguments(value: Any) -> dict[str, object]:
    if type(value) in _SPELT:
        return _SPELT[type(value)][0](value)
    return {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.name not in _PRIVATE and not _by_default(field, value)
    }


def _by_default(field: "dataclasses.Field[Any]", value: object) -> bool:
    if field.default is dataclasses.MISSING:
        return False
    held = getattr(value, field.name)
    return type(held) is type(field.default) and held == field.default


def _read(found: Json, hint: Any) -> Any:
    """A value of one of the types that a hint allows."""
    ways = hint if isinstance(hint, tuple) else _ways(hint)
    if isinstance(found, dict) and found.get("class") == "range":
        return _unrolled(found, ways)
    if isinstance(found, dict):
        return _made(found, ways)
    if isinstance(found, list):
        for way in ways:
            inside = get_args(way) if _origin(way) is tuple else ()
            if len(inside) == 2 and inside[1] is Ellipsis:
                return tuple(_read(one, inside[0]) for one in found)
            if inside and len(inside) == len(found):
                pairs = zip(found, inside, strict=True)
                return tuple(_read(one, kind) for one, kind in pairs)
    elif type(found) in ways or any(
        found in get_args(way) for way in ways if _origin(way) is Literal
    ):
        return found
    elif isinstance(found, str) and Fraction in ways and _RATIONAL.fullmatch(found):
        top, _, bottom = found.partition("/")
        if bottom == "" or int(bottom):
            return Fraction(int(top), int(bottom or 1))
    elif isinstance(found, str) and float in ways and found in _INFINITE:
        return _INFINITE[found]
    raise InvalidCertificate(f"No plan holds {json.dumps(found)[:60]} there.")


def _run(value: Sequence[Any]) -> dict[str, Any] | None:
    """Whole numbers that follow one another, by the first of them and how many there are."""
    if not isinstance(value, tuple) or set(map(type, value)) != {int}:
        return None
    steps = listing(value).steps(Fraction(1))
    if steps is None or not unbroken(steps):
        return None
    return {"class": "range", "first": value[0], "count": len(value)}


def _unrolled(found: dict[str, Any], ways: tuple[Any, ...]) -> tuple[int, ...]:
    first, count = found.get("first"), found.get("count")
    if len(found) == 3 and isinstance(first, int) and isinstance(count, int):
        listed = any(_origin(way) is tuple for way in ways)
        if listed and _LONG < count <= _MOST and bool not in (type(first), type(count)):
            return tuple(range(first, first + count))
    raise InvalidCertificate("No plan holds such a range.")


def _made(found: dict[str, Any], ways: tuple[Any, ...]) -> Any:
    kinds = {one.__name__: one for one in ways if one in KINDS}
    kind = kinds.get(str(found.get("class")))
    if kind is None:
        raise InvalidCertificate(
            f"A plan has no part of the class {found.get('class')!r} there. A newer version of "
            "Deniable may know it."
        )
    hints = _hints(kind)
    fields = {name: one for name, one in found.items() if name != "class"}
    if set(fields) - set(hints):
        raise InvalidCertificate(
            f"A {kind.__name__} has no {', '.join(sorted(set(fields) - set(hints)))}."
        )
    try:
        made = kind(**{name: _read(one, hints[name]) for name, one in fields.items()})
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InvalidCertificate):
            raise
        raise InvalidCertificate(f"No {kind.__name__} is like that: {problem}") from None
    return made


@cache
def _hints(kind: type) -> dict[str, Any]:
    if kind in _SPELT:
        return _SPELT[kind][1]
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in dataclasses.fields(kind)}


def _origin(hint: Any) -> Any:
    return get_origin(hint)


@cache
def _ways(hint: Any) -> tuple[Any, ...]:
    """The types of a union, and those of the aliases in it."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(way for one in get_args(hint) for way in _ways(one))
    if hint is None:
        return (NoneType,)
    return (hint,)
