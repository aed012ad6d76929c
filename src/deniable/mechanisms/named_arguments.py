"""Errors for a wrong call. They name the class or function that the user wrote.

Several mechanisms inherit one constructor. Python's own TypeError would name the class that
defines it, which the user does not know; and it does not say how to mend the call.
"""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from deniable.exact.suggestions import did_you_mean

Constructor = TypeVar("Constructor", bound=Callable[..., None])
Function = TypeVar("Function", bound=Callable[..., Any])


def check_arguments(constructor: Constructor) -> Constructor:
    """Decorates `__init__`: a wrong call raises a TypeError that says how to mend it.

    >>> from deniable.mechanisms import Laplace
    >>> Laplace(1)
    Traceback (most recent call last):
    TypeError: Laplace() takes named arguments only. Write Laplace(epsilon=...).
    >>> Laplace(epsilom=1)
    Traceback (most recent call last):
    TypeError: Laplace() has no parameter `epsilom`. Did you mean `epsilon`?
    """
    _, *parameters = inspect.signature(constructor).parameters.values()

    @wraps(constructor)
    def checked(self: Any, *values: Any, **arguments: Any) -> None:
        _check(type(self).__name__, parameters, values, arguments, type(self))
        constructor(self, *values, **arguments)

    return cast(Constructor, checked)


def check_call(function: Function) -> Function:
    """Decorates a function, or a method below @classmethod, in the same way.

    >>> from deniable.mechanisms import Gaussian
    >>> Gaussian.calibrated(epsilon=1, delt=1e-6)
    Traceback (most recent call last):
    TypeError: Gaussian.calibrated() has no parameter `delt`. Did you mean `delta`?
    """
    parameters = [*inspect.signature(function).parameters.values()]
    of_class = parameters[0].name == "cls"
    if of_class:
        del parameters[0]

    @wraps(function)
    def checked(*values: Any, **arguments: Any) -> Any:
        owner = f"{values[0].__name__}." if of_class else ""
        call = f"{owner}{function.__name__}"
        _check(call, parameters, values[of_class:], arguments)
        return function(*values, **arguments)

    return cast(Function, checked)


def _check(
    call: str,
    parameters: Sequence[inspect.Parameter],
    values: Sequence[Any],
    arguments: Mapping[str, Any],
    kind: type = object,
) -> None:
    """Raises a TypeError if the parameters cannot take the values and named arguments."""
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)  # checks further names itself
    parameters = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    names = [p.name for p in parameters]
    by_place = positional[: len(values)]
    given = {*by_place, *arguments}
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in given]
    unknown = [name for name in arguments if not (open_ended or name in names)]
    if unknown:
        hint = _hint(kind, unknown[0], names)
        raise TypeError(f"{call}() has no parameter `{unknown[0]}`. {hint}")
    if len(values) > len(positional):
        raise TypeError(_too_many(call, positional, names))
    if twice := [name for name in by_place if name in arguments]:
        raise TypeError(f"{call}() got `{twice[0]}` twice, with its name and without.")
    if missing:
        raise TypeError(f"{call}() needs {_join(missing)}.{_example(missing)}")


_EXAMPLES = {
    "epsilon": " Give a price, for example epsilon=1: a smaller epsilon is safer, and margins "
    "are wider.",
    "level": " Give a share between 0 and 1, for example level=0.9.",
    "delta": " Give a delta well below 1 / (number of people), for example delta=1e-6.",
    "neighbors": ' Write neighbors="add-remove" if a record may be added or removed, or '
    'neighbors="replace" if one may be replaced by another.',
}


def _example(missing: list[str]) -> str:
    return "".join(text for name, text in _EXAMPLES.items() if name in missing)


def _too_many(call: str, positional: list[str], names: list[str]) -> str:
    if positional == names:
        return f"{call}() takes at most {len(names)} arguments: {_join(names)}."
    example = f"{next(name for name in names if name not in positional)}=..."
    if not positional:
        return f"{call}() takes named arguments only. Write {call}({example})."
    return (
        f"{call}() takes only {_join(positional)} without a name. "
        f"Name the other arguments: {example}"
    )


def _hint(kind: type, unknown: str, names: list[str]) -> str:
    if question := did_you_mean(unknown, names):
        return question
    others = [
        f"{kind.__name__}.{name}()"
        for name, member in vars(kind).items()
        if isinstance(member, classmethod)
        and unknown in inspect.signature(member.__func__).parameters
    ]
    if others:
        return f"Use {' or '.join(others)}, or give {_join(names, 'or')}."
    return f"It takes {_join(names)}."


def _join(names: Collection[str], word: str = "and") -> str:
    *most, last = [f"`{name}`" for name in names]
    return f"{', '.join(most)} {word} {last}" if most else last
