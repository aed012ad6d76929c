"""A plan as JSON, and back: one canonical text for each plan, so that a hash identifies it.

Only the classes in `KINDS` can be written or read. Each is a frozen dataclass that can be built
again from its fields, or from the arguments that `_ARGUMENTS` names. A new kind of block needs
one line there. A list of more than a thousand consecutive integers is written as its first
element and its length, and read as a `range`.
A field with its default value is left out, so plans keep their hash when a later version adds
a field. Rationals are text such as "3/4", so nothing is rounded.

The canonical text has its keys sorted, no spaces, and only ASCII characters.
"""

import dataclasses
import datetime
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

from deniable.errors import InvalidCertificate, Unsupported
from deniable.exact.foreign_text import (
    MOST_DIGITS,
    MOST_LEVELS,
    nests_deeper,
    read_json,
    read_rational,
)
from deniable.mechanisms import (
    Exponential,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    QuantileIntervals,
    Quantiles,
    Thresholding,
)
from deniable.policy import Column, Policy, Table
from deniable.policy.budget import Budget, Schedule
from deniable.policy.sample import Sample
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan import plan as parts
from deniable.query.plan.contribution import Contribution
from deniable.query.plan.key_list import is_consecutive, key_list_of
from deniable.query.plan.plan import Plan

Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

# Everything that a plan may be made of. Class names are part of the format: they never change,
# and the meaning of a field never changes.
KINDS: tuple[type, ...] = (
    *(Plan, parts.GroupKey, parts.Block, Contribution, parts.Choice, parts.Output),
    *(parts.Number, parts.Feature, parts.Chosen, parts.KeyColumn, parts.Operation),
    *(parts.Constant, parts.Distances, parts.TableDistance, parts.Told),
    *(
        Laplace,
        Gaussian,
        Thresholding,
        PermuteAndFlip,
        Quantiles,
        QuantileIntervals,
        Exponential,
    ),
)


def _quantiles_arguments(mechanism: Quantiles) -> dict[str, object]:
    low, step = mechanism.grid.lowest, mechanism.grid.step
    same = ("quantiles", "epsilon", "odds", "neighbors")
    arguments = {name: getattr(mechanism, name) for name in same}
    bounds = (low, low + (mechanism.grid.size - 1) * step)
    return arguments | {"bounds": bounds, "step": step, "method": mechanism.method}


def _intervals_arguments(mechanism: QuantileIntervals) -> dict[str, object]:
    low, step = mechanism.grid.lowest, mechanism.grid.step
    same = ("quantiles", "epsilon", "neighbors", "reach", "brackets", "method")
    bounds = (low, low + (mechanism.grid.size - 1) * step)
    return {name: getattr(mechanism, name) for name in same} | {"bounds": bounds, "step": step}


# Classes whose arguments are not their fields: how to get the arguments, and their types.
_ARGUMENTS: dict[type, tuple[Callable[[Any], dict[str, object]], dict[str, Any]]] = {
    Quantiles: (
        _quantiles_arguments,
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
    QuantileIntervals: (
        _intervals_arguments,
        {
            "quantiles": tuple[Fraction, ...],
            "epsilon": Fraction,
            "neighbors": Neighbors,
            "reach": int,
            "brackets": bool,
            "method": str,
            "bounds": tuple[Fraction, Fraction],
            "step": Fraction,
        },
    ),
}
_DECLARED: tuple[type, ...] = (Policy, Table, Column, Budget, Schedule, Sample)  # not read
# Where data and ledgers lie is not told, and not hashed: an address from the environment may
# hold a password, and a hash of it could be tested against guesses.
_PRIVATE = {"source", "address", "ledger", "ledger_key", "ledger_id"}

_PLAIN = {bool, int, str, NoneType}
_LONG = 1000  # a list of more consecutive integers is written as a range
_LONGEST = 10**8  # the most integers in a range
_LONGEST_NUMBER = 10**MOST_DIGITS
_LEVELS_AROUND = 2  # a plan lies in a certificate, which lies in a release
_INFINITE = {"inf": math.inf, "-inf": -math.inf}


def to_json(value: object) -> Json:
    """A plan, or any part of one, as JSON.

    >>> to_json(parts.Block(("n",), "rows", Laplace(epsilon=0.1)))["mechanism"]
    {'class': 'Laplace', 'epsilon': '1/10', 'odds': None, 'sensitivity': '1', 'step': '1'}
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)  # without the tree of a statement
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Fraction) and _is_too_long(value):
        raise Unsupported(
            f"A plan with a number of more than {MOST_DIGITS} digits cannot be certified: "
            "write epsilon, delta and other parameters with fewer digits."
        )
    if isinstance(value, Fraction | datetime.date):
        return str(value)
    if isinstance(value, range):
        return {"class": "range", "first": value.start, "count": len(value)}
    if isinstance(value, tuple | list):
        if len(value) > _LONG and (run := _run(value)) is not None:
            return run
        if set(map(type, value)) <= _PLAIN:  # a short cut for a million keys
            return list(value)
        return [to_json(element) for element in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(element) for key, element in value.items()}
    if dataclasses.is_dataclass(value) and type(value) in (*KINDS, *_DECLARED):
        fields = {name: to_json(argument) for name, argument in _arguments(value).items()}
        return {"class": type(value).__name__, **fields}
    raise Unsupported(
        f"A plan with a {type(value).__name__} cannot be certified: the class has no JSON "
        "form. Add it to KINDS in query/plan/canonical.py."
    )


def from_json(data: Json) -> Any:
    """The value that `to_json` wrote. Refuses anything that `to_json` cannot have written.

    >>> from_json(to_json(Laplace(epsilon=0.1))) == Laplace(epsilon=0.1)
    True
    """
    return _read(data, KINDS)


def canonical_text(data: Json) -> str:
    """The canonical text of JSON.

    >>> canonical_text({"b": [1, "ü"], "a": None})
    '{"a":null,"b":[1,"\\\\u00fc"]}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def plan_form(plan: Plan) -> tuple[Json, str]:
    """A plan as JSON and its hash. Refuses a plan that could not be read again."""
    data = to_json(plan)
    text = canonical_text(data).encode("ascii")
    if nests_deeper(text, MOST_LEVELS - _LEVELS_AROUND):
        raise Unsupported(
            "The question nests too deeply for its certificate to be checked: split its "
            "expressions, or add up fewer terms. Nothing was spent."
        )
    return data, hashlib.sha256(text).hexdigest()


def digest(value: object) -> str:
    """The SHA-256 of a value's canonical text, in hexadecimal.

    >>> digest(Laplace(epsilon=1)) == digest(Laplace(epsilon=1.0))
    True
    """
    return digest_json(to_json(value))


def digest_json(data: Json) -> str:
    """The SHA-256 of the canonical text of JSON.

    >>> digest_json([1, 2]) == digest_json([2, 1])
    False
    """
    return hashlib.sha256(canonical_text(data).encode("ascii")).hexdigest()


def parse_json(source: str | bytes) -> Json:
    """JSON from a file that someone else may have written, within the limits of `read_json`.

    >>> parse_json('{"a": 1}')
    {'a': 1}
    """
    try:
        return cast(Json, read_json(source))
    except ValueError as problem:
        raise InvalidCertificate(
            f"This is not a file that Deniable wrote: {problem}. Give the file of a release, a "
            "certificate or a ledger head as it was written."
        ) from None


def _is_too_long(number: Fraction) -> bool:
    return not -_LONGEST_NUMBER < number.numerator < _LONGEST_NUMBER > number.denominator


def _arguments(value: Any) -> dict[str, object]:
    if type(value) in _ARGUMENTS:
        return _ARGUMENTS[type(value)][0](value)
    return {
        field.name: getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.name not in _PRIVATE and not _is_default(field, value)
    }


def _is_default(field: "dataclasses.Field[Any]", value: object) -> bool:
    if field.default is dataclasses.MISSING:
        return False
    argument = getattr(value, field.name)
    return type(argument) is type(field.default) and argument == field.default


def _read(data: Json, hint: Any) -> Any:
    """A value of one of the types that a hint allows."""
    types = hint if isinstance(hint, tuple) else _alternatives(hint)
    if isinstance(data, dict) and data.get("class") == "range":
        return _read_range(data, types)
    if isinstance(data, dict):
        return _read_object(data, types)
    if isinstance(data, list):
        for allowed in types:
            inside = get_args(allowed) if _origin(allowed) is tuple else ()
            if len(inside) == 2 and inside[1] is Ellipsis:
                return tuple(_read(element, inside[0]) for element in data)
            if inside and len(inside) == len(data):
                pairs = zip(data, inside, strict=True)
                return tuple(_read(element, kind) for element, kind in pairs)
    elif type(data) in types or any(
        data in get_args(allowed) for allowed in types if _origin(allowed) is Literal
    ):
        return data
    elif isinstance(data, str) and Fraction in types:
        with suppress(ValueError):
            return read_rational(data)
    elif isinstance(data, str) and float in types and data in _INFINITE:
        return _INFINITE[data]
    raise InvalidCertificate(f"A plan cannot hold {json.dumps(data)[:60]} in this place.")


def _run(value: Sequence[Any]) -> dict[str, Any] | None:
    """Consecutive integers as the first of them and their number; None for other lists."""
    if not isinstance(value, tuple) or set(map(type, value)) != {int}:
        return None
    steps = key_list_of(value).steps(Fraction(1))
    if steps is None or not is_consecutive(steps):
        return None
    return {"class": "range", "first": value[0], "count": len(value)}


def _read_range(data: dict[str, Any], types: tuple[Any, ...]) -> range:
    """A range stays one: a line of a file cannot make a hundred million integers."""
    first, count = data.get("first"), data.get("count")
    if len(data) == 3 and isinstance(first, int) and isinstance(count, int):
        allowed = any(_origin(kind) is tuple for kind in types)
        if allowed and _LONG < count <= _LONGEST and bool not in (type(first), type(count)):
            return range(first, first + count)
    raise InvalidCertificate(
        "A plan cannot hold this range: it needs integers `first` and `count`, with `count` "
        f"above {_LONG:,} and at most {_LONGEST:,}."
    )


def _read_object(data: dict[str, Any], types: tuple[Any, ...]) -> Any:
    kinds = {allowed.__name__: allowed for allowed in types if allowed in KINDS}
    kind = kinds.get(str(data.get("class")))
    if kind is None:
        raise InvalidCertificate(
            f"A plan cannot hold an object of the class {data.get('class')!r} in this place. "
            "A newer version of Deniable may support it."
        )
    hints = _hints(kind)
    fields = {name: value for name, value in data.items() if name != "class"}
    if set(fields) - set(hints):
        raise InvalidCertificate(
            f"{kind.__name__}: Unknown field {', '.join(sorted(set(fields) - set(hints)))}."
        )
    try:
        return kind(**{name: _read(value, hints[name]) for name, value in fields.items()})
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InvalidCertificate):
            raise
        raise InvalidCertificate(
            f"{kind.__name__}: The fields are not valid: {problem}"
        ) from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    if kind in _ARGUMENTS:
        return _ARGUMENTS[kind][1]
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _origin(hint: Any) -> Any:
    return get_origin(hint)  # mypy expects fewer results than there are


@cache
def _alternatives(hint: Any) -> tuple[Any, ...]:
    """The types of a union, including those of the unions in it."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(kind for inner in get_args(hint) for kind in _alternatives(inner))
    if hint is None:
        return (NoneType,)
    return (hint,)
