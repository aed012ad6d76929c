"""Requests to a server, and its problems as our exceptions.

The token travels in a header, to an address with https or on this machine only. A redirection
is not followed: it would hand the token to somebody else.
"""

import http.client
import ipaddress
import json
import re
import ssl
import time
from typing import Any
from urllib.parse import quote, urlsplit

from deniable import errors
from deniable.errors import (
    AccessDenied,
    DeniableError,
    InvalidParameter,
    ServerUnavailable,
    TooManyQuestions,
)
from deniable.exact.foreign_text import printable, read_json

_LONGEST_ANSWER = 1 << 30
_TIMEOUT = 120.0  # seconds of silence
_TRIES = 3
_REFERENCE = re.compile(r"\(reference ([0-9a-z ]{1,40})\)")


class RetryRefused(TooManyQuestions):
    """A message was sent again after the connection broke, and then too many requests came.
    The server may have taken the first one."""


class ServerCalls:
    """One policy of one server, and the token of who asks."""

    def __init__(self, url: str, token: str, *, context: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url)
        path = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not path:
            raise InvalidParameter(
                "A server is named like https://data.example.org/hospital: its host, and the "
                "name of a policy."
            )
        if parts.query or parts.fragment or parts.username or parts.password:
            raise InvalidParameter(
                "The address of a server holds a host and the name of a policy, and no more. "
                "Give the token as token=..."
            )
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise InvalidParameter(
                "Without https the token and the answers would travel in clear. Use https://, "
                "or http:// on this machine only."
            )
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise InvalidParameter("`token` must be the text that the data owner gave you.")
        self.url = f"{parts.scheme}://{parts.netloc}/{path}"
        policy = path.removeprefix("v1/")
        self._base = f"/v1/{quote(policy, safe='')}"
        self._host, self._port = parts.hostname, parts.port
        self._context = None
        if parts.scheme == "https":
            self._context = context or ssl.create_default_context()
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def get(self, path: str) -> Any:
        """The JSON at a path below the policy's address."""
        return self.send("GET", path)[1]

    def post(self, path: str, document: dict[str, Any]) -> Any:
        """The JSON that answers a message. It may be sent twice if a connection breaks."""
        return self.send("POST", path, document)[1]

    def send(
        self, method: str, path: str, document: dict[str, Any] | None = None
    ) -> tuple[int, Any]:
        """The status and the JSON of one answer; a problem is raised."""
        body = None if document is None else json.dumps(document).encode("ascii")
        for tried in range(_TRIES):
            try:
                status, content = self._exchange(method, f"{self._base}/{path}", body)
                break
            except (OSError, http.client.HTTPException) as problem:
                if tried == _TRIES - 1 or isinstance(problem, ssl.SSLError):
                    raise ServerUnavailable(
                        f"{self.url} cannot be reached ({type(problem).__name__}). If a "
                        "question was taken before, ask again under the same question id."
                    ) from None
                time.sleep(0.2 * (tried + 1))
        try:
            answer = read_json(content)
        except ValueError:
            answer = None
        if 200 <= status < 300 and answer is not None:
            return status, answer
        refusal = problem_from(status, answer)
        if tried and isinstance(refusal, TooManyQuestions):
            raise RetryRefused(*refusal.args)
        raise refusal

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        if self._context is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=_TIMEOUT)
        else:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=_TIMEOUT, context=self._context
            )
        try:
            connection.request(method, path, body, self._headers)
            answer = connection.getresponse()
            return answer.status, answer.read(_LONGEST_ANSWER)
        finally:
            connection.close()


def problem_from(status: int, problem: Any) -> DeniableError:
    """The exception that a problem of the server stands for.

    >>> told = {"type": "/problems/budget-exhausted", "detail": "Nothing is left."}
    >>> problem_from(403, told)
    BudgetExhausted('Nothing is left.')
    """
    if not isinstance(problem, dict) or not isinstance(problem.get("detail"), str):
        return ServerUnavailable(f"The server did not answer as a Deniable server ({status}).")
    name = str(problem.get("type", "")).removeprefix("/problems/")
    words = "\n".join(map(printable, problem["detail"].split("\n")))
    kind = getattr(errors, "".join(part.capitalize() for part in name.split("-")), None)
    if kind is errors.EngineFailed:
        match = _REFERENCE.search(words)
        return errors.EngineFailed(match[1] if match else "unknown")
    if isinstance(kind, type) and issubclass(kind, DeniableError):
        return kind(words)
    if status == 429:
        return errors.TooManyQuestions(words)
    if status in (401, 403, 404):
        return AccessDenied(words)
    return ServerUnavailable(f"{words} ({status})")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
