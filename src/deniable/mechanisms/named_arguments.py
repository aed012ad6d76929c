"""Errors for a wrong call of a constructor. They name the class that the user wrote.

Several mechanisms inherit one constructor. Python's own TypeError would name the class that
defines it, which the user does not know.
"""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar, cast

Constructor = TypeVar("Constructor", bound=Callable[..., None])


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
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = [p.name for p in parameters]
    required = [p.name for p in parameters if p.default is p.empty]

    @wraps(constructor)
    def checked(self: Any, *values: Any, **arguments: Any) -> None:
        by_place = positional[: len(values)]
        given = {*by_place, *arguments}
        call = type(self).__name__
        if unknown := [name for name in arguments if name not in names]:
            raise TypeError(
                f"{call}() has no parameter `{unknown[0]}`. "
                f"{_hint(type(self), unknown[0], names)}"
            )
        if len(values) > len(positional):
            raise TypeError(_too_many(call, positional, names))
        if twice := [name for name in by_place if name in arguments]:
            raise TypeError(f"{call}() got `{twice[0]}` twice, with its name and without.")
        if missing := [name for name in required if name not in given]:
            raise TypeError(f"{call}() needs {_join(missing)}.{_example(missing)}")
        constructor(self, *values, **arguments)

    return cast(Constructor, checked)


def _example(missing: list[str]) -> str:
    if "neighbors" not in missing:
        return ""
    return (
        ' Write neighbors="add-remove" if a record may be added or removed, or '
        'neighbors="replace" if one may be replaced by another.'
    )


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
    from difflib import get_close_matches  # slow to import

    if near := get_close_matches(unknown, names, n=1):
        return f"Did you mean `{near[0]}`?"
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
