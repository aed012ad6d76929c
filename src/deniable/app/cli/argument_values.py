"""Parses command-line arguments: values, numbers, ranges, functions in files."""

import ast
import importlib.util
import sys
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter

MAX_EXPONENT = 1000  # of a decimal; larger ones only waste memory


def parse_values(text: str) -> list[Any]:
    """A list of values: `0,1` or `yes,no` or other Python literals.

    >>> parse_values("0, 1.5, yes")
    [0, 1.5, 'yes']
    >>> parse_values("(0, 1), (1, 1)")
    [(0, 1), (1, 1)]
    """
    try:
        return list(ast.literal_eval(f"[{text}]"))
    except (SyntaxError, ValueError):
        return [parse_value(word) for word in text.split(",")]


def parse_value(word: str) -> Any:
    """A Python literal, or the word itself.

    >>> parse_value("[1, 2]"), parse_value("yes")
    ([1, 2], 'yes')
    """
    try:
        return ast.literal_eval(word.strip())
    except (SyntaxError, ValueError):
        return word.strip()


def parse_decimal(text: str, name: str) -> Decimal:
    """A finite decimal. The loss or mechanism that gets it checks its range.

    >>> parse_decimal("0.1", "epsilon")
    Decimal('0.1')
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise InvalidParameter(
            f"`{name}` must be a number, such as 1.1. Found {text!r}."
        ) from None
    if not value.is_finite():
        raise InvalidParameter(f"`{name}` must be finite. Found {text}.")
    if value and abs(value.adjusted()) > MAX_EXPONENT:
        raise InvalidParameter(f"`{name}` is outside any useful range. Found {text}.")
    return value


def parse_fraction(text: str, name: str) -> Fraction:
    """An exact number: `1/3`, `0.1` or `2`.

    >>> parse_fraction("1/3", "p"), parse_fraction("0.1", "p")
    (Fraction(1, 3), Fraction(1, 10))
    """
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(
            f"`{name}` must be a number, such as 0.1 or 1/3. Found {text!r}."
        ) from None


def parse_range(text: str) -> tuple[str, Fraction, Fraction]:
    """The name of a parameter, and the ends of its range.

    >>> parse_range("p=0:1/2")
    ('p', Fraction(0, 1), Fraction(1, 2))
    """
    name, equals, ends = text.partition("=")
    low, colon, high = ends.partition(":")
    if not (name and equals and colon):
        raise InvalidParameter(
            f"Write a range as NAME=LOW:HIGH, such as p=0:1. Found {text!r}."
        )
    return name.strip(), parse_fraction(low, name), parse_fraction(high, name)


def parse_parameters(words: list[str]) -> dict[str, Any]:
    """Arguments like `epsilon=0.1` as keyword arguments; numbers are exact.

    >>> parse_parameters(["epsilon=0.1", "categories=3"])
    {'epsilon': Decimal('0.1'), 'categories': 3}
    """
    parameters: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise InvalidParameter(
                f"Write a parameter as NAME=VALUE, such as epsilon=1. Found {word!r}."
            )
        try:
            parameters[name] = int(text) if text.lstrip("-").isdigit() else Decimal(text)
        except InvalidOperation:
            parameters[name] = parse_fraction(text, name)
    return parameters


def load_function(location: str) -> Any:
    """The function that `file.py:name` names."""
    path, colon, name = location.rpartition(":")
    if not colon:
        raise InvalidParameter(
            f"Name a file and a function in it, such as coins.py:two_coins. Found {location!r}."
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
        raise InvalidParameter(f"Loading {path!r} failed: {error!r}.") from error
    function = getattr(module, name, None)
    if function is None:
        raise InvalidParameter(f"There is no `{name}` in {path!r}.")
    return function
