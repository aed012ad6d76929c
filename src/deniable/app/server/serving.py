"""Serves an application: on which address, with which certificate, and with what in the log.

Without https a browser offers no `crypto.subtle` outside of this machine, anyone on the way
could change the page, and an invitation would travel in clear. So plain http is for loopback
only: to try a survey out, or behind a proxy on the same machine that speaks https.
"""

import logging
import resource
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from deniable.app.server.connection_limits import OpenConnections, limited_protocol
from deniable.app.server.loopback_hosts import is_loopback
from deniable.errors import InvalidParameter

_MOST_CONNECTIONS = 2048  # slow ones of many addresses leave room for others
_OPEN_FILES = 8192  # for these, and for pipes and databases
_SWITCH_SECONDS = 0.0005  # a thread that plans lets others go on sooner than by default
_LARGEST_HEAD = 16 * 1024


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Where a server listens. `behind_proxy` trusts the address that a proxy on this machine
    names, for the limits of open links only.

    >>> ServerPlace(host="127.0.0.1").check(origin=None)
    >>> ServerPlace(host="0.0.0.0").check(origin=None)
    Traceback (most recent call last):
    deniable.errors.InvalidParameter: Without a certificate a survey is served on this...
    """

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False

    @property
    def https(self) -> bool:
        """Whether this server itself speaks https."""
        return self.certificate is not None

    def check(self, *, origin: str | None) -> None:
        """Refuses plain http for anyone but this machine, whatever the mode of the survey."""
        if (self.certificate is None) != (self.key is None):
            raise InvalidParameter("Give both --certificate and --key, or neither.")
        if not self.https and not is_loopback(self.host):
            raise InvalidParameter(
                "Without a certificate a survey is served on this machine only: answers, "
                "invitations and the page itself would travel in clear, and browsers offer no "
                "cryptography on such pages. Give --certificate and --key, or put a proxy with "
                "https in front and listen on 127.0.0.1."
            )
        if (origin or "").startswith("https:") and not (self.https or self.behind_proxy):
            raise InvalidParameter(
                f"The origin {origin} speaks https, and this server does not. If a proxy on "
                "this machine speaks it, give --behind-proxy: without it all people share the "
                "proxy's address, and an open link takes only a few reports an hour. "
                "Otherwise give --certificate and --key."
            )
        if origin is not None and not _is_safe(origin):
            raise InvalidParameter(
                f"The origin {origin} is plain http. People who are not on this machine need "
                "https."
            )

    def url(self, port: int) -> str:
        """How this machine reaches the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.https else 'http'}://{host}:{port}"


def serve(application: FastAPI, place: ServerPlace, *, ready: Callable[[str], None]) -> None:
    """Serves until the process is told to end. `ready` is called with the URL, once bound."""
    with bind(place) as bound:
        ready(place.url(bound.getsockname()[1]))
        serve_on(bound, application, place)


def bind(place: ServerPlace) -> socket.socket:
    """A socket that listens at the place."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    return socket.create_server((place.host, place.port), family=family, backlog=256)


def serve_on(bound: socket.socket, application: FastAPI, place: ServerPlace) -> None:
    """Serves on a socket that listens, which several processes may share."""
    keep_log_private()
    _make_room()
    trusted = "127.0.0.1,::1" if place.behind_proxy else ""
    config = uvicorn.Config(
        application,
        http=limited_protocol(OpenConnections()),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(trusted),
        forwarded_allow_ips=trusted,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        timeout_graceful_shutdown=10,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )
    config.load()
    if isinstance(config.ssl, ssl.SSLContext):
        config.ssl.options |= ssl.OP_NO_TICKET  # a ticket would recognise a returning device
        config.ssl.num_tickets = 0
    with suppress(KeyboardInterrupt):  # which ends it in order
        uvicorn.Server(config).run(sockets=[bound])


def _make_room() -> None:
    """Lets this process hold many connections, and answer some while it plans for others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    sys.setswitchinterval(_SWITCH_SECONDS)


def keep_log_private() -> None:
    """Errors only, to standard error, with the day and no finer time."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", datefmt="%Y-%m-%d"))
    for name in ("deniable.server", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
    for name in ("deniable.server", "uvicorn"):
        logging.getLogger(name).handlers = [handler]
    logging.getLogger("uvicorn.error").propagate = True


def _is_safe(origin: str) -> bool:
    parts = urlsplit(origin)
    return parts.scheme == "https" or is_loopback(parts.hostname or "")
