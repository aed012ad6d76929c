"""Providers of log-ins elsewhere (OpenID Connect), as the owner writes them in a file.

    [providers.clinic]
    issuer = "https://login.clinic.example"
    client_id = "deniable"
    client_secret_file = "clinic.secret"

Nothing that a visitor sends chooses an address: the issuer is the file's, and its other
addresses come from its own discovery document, which must name the same issuer. They are on the
issuer's host or on a public one: a provider on the internet cannot lead the server to an
address inside of the owner's network.
"""

import ipaddress
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deniable.app.server.loopback_hosts import is_loopback
from deniable.errors import InvalidParameter, ServerUnavailable

_KEYS = {"issuer", "client_id", "client_secret_file"}
_PUBLIC_NAME = re.compile(r"([a-z0-9_-]+\.)+(?P<last>[a-z][a-z0-9-]*)", re.ASCII)
_INTERNAL = {"localhost", "local", "internal", "intranet", "lan", "arpa"}  # ends of names
_ADDRESSES = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that people may log in at.

    >>> Provider("clinic", "http://login.clinic.example", "deniable")
    Traceback (most recent call last):
    deniable.errors.InvalidParameter: The issuer of the provider `clinic` must be an https...
    """

    name: str
    issuer: str
    client_id: str
    client_secret: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch("[a-z][a-z0-9-]{0,30}", self.name):
            raise InvalidParameter(
                f"The name of a provider is small letters, digits and -. Found {self.name!r}."
            )
        if not is_safe_address(self.issuer, loopback=True) or self.issuer.endswith("/"):
            raise InvalidParameter(
                f"The issuer of the provider `{self.name}` must be an https address without a "
                "slash at its end: over http anyone on the way could log in as anybody."
            )

    @property
    def discovery(self) -> str:
        """Where the provider describes itself."""
        return f"{self.issuer}/.well-known/openid-configuration"

    def addresses(self, document: object) -> dict[str, str]:
        """The addresses of a discovery document; refuses one of another issuer.

        `iss` is "required" if the provider names itself in its answers (RFC 9207).
        """
        if not isinstance(document, Mapping) or document.get("issuer") != self.issuer:
            raise ServerUnavailable(
                f"The provider `{self.name}` describes itself as another issuer than the one "
                "in the file of providers. Nobody can log in with it."
            )
        endpoints = {name: document.get(name) for name in _ADDRESSES}
        here = urlsplit(self.issuer).hostname or ""
        loopback = is_loopback(here)
        for name, address in endpoints.items():
            if not isinstance(address, str) or not is_safe_address(address, loopback=loopback):
                raise ServerUnavailable(
                    f"The provider `{self.name}` gives no https address as its {name}."
                )
            host = urlsplit(address).hostname or ""
            if host != here and not is_public_host(host):
                raise ServerUnavailable(
                    f"The provider `{self.name}` gives an address of an internal network as "
                    f"its {name}. It must be on {here}, or on a public host."
                )
        names_itself = document.get("authorization_response_iss_parameter_supported") is True
        return {**endpoints, "iss": "required" if names_itself else ""}  # type: ignore[dict-item]


def is_safe_address(address: str, *, loopback: bool) -> bool:
    """Whether an address is https without a user, query or fragment; or http on this machine.

    >>> is_safe_address("https://a.example/x", loopback=False)
    True
    >>> is_safe_address("http://127.0.0.1:8000", loopback=False)
    False
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    plain = parts.scheme == "http" and loopback and is_loopback(host)
    extra = parts.username or parts.password or parts.query or parts.fragment
    return bool((parts.scheme == "https" or plain) and host and not extra)


def is_public_host(host: str) -> bool:
    """Whether a host is on the internet, as far as its spelling says: a name with a public end,
    or a public address that is written in full.

    >>> is_public_host("login.clinic.example"), is_public_host("93.184.216.34")
    (True, True)
    >>> [
    ...     is_public_host(host)
    ...     for host in ("10.0.0.1", "2130706433", "metadata.google.internal")
    ... ]
    [False, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        found = _PUBLIC_NAME.fullmatch(host.lower())
        return found is not None and found["last"] not in _INTERNAL


def read_providers(file: Path) -> dict[str, Provider]:
    """The providers of a file, by name."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        tables = content.pop("providers")
        if content or not isinstance(tables, dict):
            raise ValueError
        return {name: _read(name, table, file.parent) for name, table in tables.items()}
    except OSError as problem:
        raise InvalidParameter(f"{str(file)!r} cannot be read: {problem.strerror}.") from None
    except (KeyError, ValueError, AttributeError) as problem:
        if isinstance(problem, InvalidParameter):
            raise
        raise InvalidParameter(
            f"{str(file)!r} is not a file of providers. It holds tables such as   "
            '[providers.clinic]   with   issuer = "https://..."   and   client_id = "..."'
        ) from None


def _read(name: str, table: object, folder: Path) -> Provider:
    known = isinstance(table, dict) and {"issuer", "client_id"} <= table.keys() <= _KEYS
    if not known or not all(isinstance(value, str) for value in table.values()):  # type: ignore[attr-defined]
        raise InvalidParameter(
            f"The provider `{name}` needs issuer and client_id, and may have "
            "client_secret_file. It can have nothing else."
        )
    assert isinstance(table, dict)
    secret = None
    if "client_secret_file" in table:
        secret = (folder / table["client_secret_file"]).read_text(encoding="utf-8").strip()
    return Provider(name, table["issuer"], table["client_id"], secret)
