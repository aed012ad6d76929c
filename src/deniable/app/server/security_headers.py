"""The headers of every response, errors included.

They are strict: a response may load nothing, and nobody may frame it, store it or learn where
it was read. A page that needs more sends its own Content-Security-Policy; the rest stays.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "content-security-policy": NOTHING,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "cache-control": "no-store",
}
HTTPS_ONLY = ("strict-transport-security", "max-age=31536000")


class SecurityHeaders:
    """Adds the headers that a response does not set itself, and answers what nobody caught."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        https: bool,
        on_failure: "Callable[[Scope, Exception], Response]",
    ) -> None:
        self._app, self._on_failure = app, on_failure
        headers = [*HEADERS.items(), *([HTTPS_ONLY] if https else [])]
        self._headers = [(name.encode(), value.encode()) for name, value in headers]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        started = False

        async def send_with_headers(message: "Message") -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = list(message.get("headers", ()))
                names = {name.lower() for name, _ in own}
                own += [(name, value) for name, value in self._headers if name not in names]
                message = {**message, "headers": own}
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as problem:
            if scope["type"] != "http" or started:
                raise
            await self._on_failure(scope, problem)(scope, receive, send_with_headers)
