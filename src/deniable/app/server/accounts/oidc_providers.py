"""Providers of log-ins elsewhere (OpenID Connect), as the owner writes them in a file.

    [providers.clinic]
    issuer = "https://login.clinic.example"
    client_id = "deniable"
    client_secret_file = "clinic.secret"

Nothing that a visitor sends chooses an address: the issuer is the file's, and its other
addresses come from its own discovery document, which must name the same issuer. They are on the
issuer's host, on one that the file names as well (`hosts = ["keys.clinic.internal"]`), or on
one that is public by its spelling. Names are not looked up: a public name that leads into the
owner's network is not seen here, and must answer with a certificate for that name.
"""

import ipaddress
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from deniable.app.server.loopback_hosts import is_loopback
from deniable.errors import InvalidParameter, ServerUnavailable

_KEYS = {"issuer", "client_id", "client_secret_file", "hosts"}
_PUBLIC_NAME = re.compile(r"([a-z0-9_-]+\.)+(?P<last>[a-z][a-z0-9-]*)", re.ASCII)
# Ends of names that are nobody's on the internet.
_INTERNAL = {"localhost", "localdomain", "local", "internal", "intranet", "private", "lan"}
_INTERNAL |= {
    "corp",
    "home",
    "mail",
    "svc",
    "cluster",
    "consul",
    "docker",
    "test",
    "invalid",
    "arpa",
}
_WRITTEN_NUMBERS = re.compile(r"(^|[^0-9])[0-9]{1,3}([.-][0-9]{1,3}){3}([^0-9]|$)", re.ASCII)
_WRITTEN_HEX = re.compile(r"(^|[.-])[0-9a-f]{8}([.-]|$)", re.ASCII)  # as of nip.io
_TO_ITSELF = {"localtest.me", "lvh.me", "vcap.me"}  # public names of the reader's own machine
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_OWN_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")  # of one network only
_ISATAP = (0x5EFE, 0x02005EFE)  # before an IPv4 address
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
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
    hosts: tuple[str, ...] = ()  # further ones of the provider, internal or not

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
            if host not in (here, *self.hosts) and not is_public_host(host):
                raise ServerUnavailable(
                    f"The provider `{self.name}` gives an address of an internal network as "
                    f"its {name}. It must be on {here}, on a public host, or on one of the "
                    "`hosts` in the file of providers."
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
    or a public address that is written in full. A name with an address in it is not public.

    >>> is_public_host("login.clinic.example"), is_public_host("93.184.216.34")
    (True, True)
    >>> [
    ...     is_public_host(host)
    ...     for host in ("10.0.0.1", "10.0.0.1.nip.io", "metadata.google.internal")
    ... ]
    [False, False, False]
    """
    try:
        return all(map(_is_public_address, _addresses_in(ipaddress.ip_address(host))))
    except ValueError:
        return _is_public_name(host.lower())


def _is_public_name(host: str) -> bool:
    """Whether a name has a public end, and no address in it that it may stand for."""
    match = _PUBLIC_NAME.fullmatch(host)
    if match is None or match["last"] in _INTERNAL or _WRITTEN_NUMBERS.search(host):
        return False
    own = ".".join(host.split(".")[-2:])
    return own not in _TO_ITSELF and _WRITTEN_HEX.search(host) is None


def _is_public_address(address: _Address) -> bool:
    own = address.version == 6 and address in _OWN_NAT64
    return address.is_global and not address.is_multicast and not own


def _addresses_in(address: _Address) -> Iterator[_Address]:
    """The address that packets go to: itself, or the one inside of it by a way from IPv6."""
    if address.version == 4:
        yield address
        return
    before_last = int(address) >> 32
    low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped or address in _NAT64 or before_last == 0:
        yield low
        return
    if before_last & 0xFFFFFFFF in _ISATAP:
        yield low
    if address.sixtofour:
        yield address.sixtofour
    yield address


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
    texts, hosts = dict(table) if isinstance(table, dict) else {}, []
    if known:
        hosts = texts.pop("hosts", [])
    if (
        not known
        or not isinstance(hosts, list)
        or not all(isinstance(value, str) for value in (*texts.values(), *hosts))
    ):
        raise InvalidParameter(
            f"The provider `{name}` needs issuer and client_id, and may have "
            "client_secret_file and hosts, a list. It can have nothing else."
        )
    secret = None
    if "client_secret_file" in texts:
        secret = (folder / texts["client_secret_file"]).read_text(encoding="utf-8").strip()
    lowered = tuple(host.lower() for host in hosts)
    return Provider(name, texts["issuer"], texts["client_id"], secret, lowered)
