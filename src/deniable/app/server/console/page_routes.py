"""One route of the console: a method, an address and what answers it."""

from collections.abc import Callable
from typing import Any, NamedTuple


class PageRoute(NamedTuple):
    """A route. The role matrix must have a row for it.

    >>> PageRoute("GET", "/console", print).path
    '/console'
    """

    method: str
    path: str
    answer: Callable[..., Any]
