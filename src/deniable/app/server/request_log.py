"""The owner's log of requests: one line of JSON each, and no value of any.

    {"time": "2026-03-01T09:30:00Z", "method": "POST", "route": "/v1/{policy}/explain",
     "status": 200, "person": "ann"}

The route is the pattern, not the address. There is no body, no query, no token, no address of a
client, and no duration. Of those who take a survey there is no line at all: its moment would
tell when a report came.
"""

import datetime
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


def write_to_stderr(line: str) -> None:
    """Writes a line where a service manager or a container collects it."""
    print(line, file=sys.stderr, flush=True)


class RequestLog:
    """Writes a line for each request when its answer begins."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        write: Callable[[str], None] = write_to_stderr,
        clock: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        self._app, self._write, self._clock = app, write, clock

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["path"].startswith("/s/"):
            await self._app(scope, receive, send)
            return

        async def send_and_log(message: "Message") -> None:
            if message["type"] == "http.response.start":
                self._write(self._line(scope, message["status"]))
            await send(message)

        await self._app(scope, receive, send_and_log)

    def _line(self, scope: "Scope", status: int) -> str:
        person = scope.get("state", {}).get("person")
        record = {
            "time": self._clock().strftime("%Y-%m-%dT%H:%M:%SZ"),
            "method": scope["method"] if scope["method"].isalpha() else None,
            "route": getattr(scope.get("route"), "path", None),
            "status": status,
            "person": None if person is None else person.name,
        }
        return json.dumps(record)
