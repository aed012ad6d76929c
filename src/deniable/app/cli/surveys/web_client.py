"""Fetches and sends over HTTP as a survey's page does: no cookies, no redirects, no proxy."""

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import urlsplit

import deniable as dp

_SECONDS = 60
_MOST_BYTES = 2_000_000
_ACCEPT = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
}


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]  # names in small letters
    body: bytes


class WebClient:
    """A connection to one origin, that of a survey's URL."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise dp.InvalidParameter(
                "A survey's URL looks like   https://survey.example.org/s/doping"
            )
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.path = parts.path.rstrip("/")
        self._connection: http.client.HTTPConnection = (
            http.client.HTTPSConnection(
                parts.netloc, timeout=_SECONDS, context=ssl.create_default_context()
            )
            if parts.scheme == "https"
            else http.client.HTTPConnection(parts.netloc, timeout=_SECONDS)
        )

    def get(self, path: str) -> WebAnswer:
        """Fetches a path of this origin."""
        return self._send("GET", path, None, _ACCEPT)

    def post(self, path: str, body: bytes) -> WebAnswer:
        """Sends text, as the page does."""
        return self._send("POST", path, body, _ACCEPT | {"Content-Type": "text/plain"})

    def __enter__(self) -> "WebClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def _send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> WebAnswer:
        try:
            self._connection.request(method, path, body, dict(headers))
            answer = self._connection.getresponse()
            content = answer.read(_MOST_BYTES + 1)
        except (OSError, http.client.HTTPException) as problem:
            self._connection.close()
            raise dp.CollectionUnavailable(
                f"{self.origin} does not answer: {type(problem).__name__}."
            ) from None
        if len(content) > _MOST_BYTES:
            raise dp.InvalidData(f"{path} is longer than {_MOST_BYTES:,} bytes.")
        names = {name.lower(): value for name, value in answer.getheaders()}
        return WebAnswer(answer.status, names, content)
