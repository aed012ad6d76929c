"""Refuses a body that says that it is too large, before a byte of it is read."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send


class DeclaredLengths:
    """Answers a request with too large a Content-Length. Bodies that do not say how long they
    are, or lie, are cut by Starlette's own limit behind it."""

    def __init__(
        self, app: "ASGIApp", *, most: int, problem_of: Callable[[Exception], "Response"]
    ) -> None:
        self._app, self._most, self._problem_of = app, most, problem_of

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "http" and self._is_too_large(scope):
            answer = self._problem_of(HTTPException(413, headers={"Connection": "close"}))
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_too_large(self, scope: "Scope") -> bool:
        declared = Headers(scope=scope).get("content-length", "0")
        return not declared.isdecimal() or len(declared) > 15 or int(declared) > self._most
