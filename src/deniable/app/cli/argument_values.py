"""What words on the command line stand for: values, numbers, ranges, functions in files."""

import ast
import importlib.util
import sys
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter


def values(text: str) -> list[Any]:
    """A list of values: `0,1`, `yes,no` or any Python literals.

    >>> values("0, 1.5, yes")
    [0, 1.5, 'yes']
    >>> values("(0, 1), (1, 1)")
    [(0, 1), (1, 1)]
    """
    try:
        found = ast.literal_eval(f"[{text}]")
    except (SyntaxError, ValueError):
        found = [value(word) for word in text.split(",")]
    return list(found)


def value(word: str) -> Any:
    """A Python literal, or the word itself.

    >>> value("[1, 2]"), value("yes")
    ([1, 2], 'yes')
    """
    try:
        return ast.literal_eval(word.strip())
    except (SyntaxError, ValueError):
        return word.strip()


def fraction(text: str, name: str) -> Fraction:
    """An exact number: `1/3`, `0.1` or `2`.

    >>> fraction("1/3", "p"), fraction("0.1", "p")
    (Fraction(1, 3), Fraction(1, 10))
    """
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(
            f"`{name}` must be a number, such as 0.1 or 1/3. Found {text!r}."
        ) from None


def span(text: str) -> tuple[str, Fraction, Fraction]:
    """A parameter and its range.

    >>> span("p=0:1/2")
    ('p', Fraction(0, 1), Fraction(1, 2))
    """
    name, equals, ends = text.partition("=")
    low, colon, high = ends.partition(":")
    if not (name and equals and colon):
        raise InvalidParameter(f"A range is written p=0:1. Found {text!r}.")
    return name.strip(), fraction(low, name), fraction(high, name)


def arguments(words: list[str]) -> dict[str, Any]:
    """`name=value` words as keyword arguments; numbers are exact.

    >>> arguments(["epsilon=0.1", "categories=3"])
    {'epsilon': Decimal('0.1'), 'categories': 3}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise InvalidParameter(f"A parameter is written epsilon=1. Found {word!r}.")
        try:
            found[name] = int(text) if text.lstrip("-").isdigit() else Decimal(text)
        except InvalidOperation:
            found[name] = fraction(text, name)
    return found


def function(place: str) -> Any:
    """The function that `file.py:name` names."""
    path, colon, name = place.rpartition(":")
    if not colon:
        raise InvalidParameter(
            f"Name a file and a function in it, as in coins.py:two_coins. Found {place!r}."
        )
    file = Path(path)
    if not file.is_file():
        raise InvalidParameter(f"There is no file {path!r}.")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise InvalidParameter(f"{path!r} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(file.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InvalidParameter(f"{path!r} fails when it is loaded: {error!r}.") from error
    found = getattr(module, name, None)
    if found is None:
        raise InvalidParameter(f"There is no `{name}` in {path!r}.")
    return found
