"""Methods of public classes that a later room implements: the public face says where.

A class has the method's signature and documentation, and calls `implementation`. So it imports
no later room, and a room that only reads released numbers imports no engine.
"""

TYPE_CHECKING = False  # importing `typing` would cost 10 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LOADERS: "dict[str, Callable[[], Callable[..., Any]]]" = {}


def bind(method: str, load: "Callable[[], Callable[..., Any]]") -> None:
    """Says how to load the function that implements a method, such as "Release.plot"."""
    _LOADERS[method] = load


def implementation(method: str) -> "Callable[..., Any]":
    """The function that implements a method. It is loaded now, if it was not before."""
    return _LOADERS[method]()
