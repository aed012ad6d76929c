"""Addresses in PostgreSQL, of tables and of ledgers: one form, and whatever else is refused.

    postgresql://user:password@host:port/database?option=value#name

All parts but the first may be missing. Characters that mean something in an address are written
with %, as in %40 for @. An address may hold a secret, and if it is misspelt, in any part. So an
address that cannot be read is never quoted, not even in part.
"""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from deniable.errors import InvalidPolicy

_ANY = "[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2}"
_FORM = re.compile(
    r"(?:postgresql|postgres|postgresql\+psycopg)://"
    rf"(?:(?P<user>(?:{_ANY})+)(?::(?P<password>(?:{_ANY}|[!$&'()*+,;=:])*))?@)?"
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])?(?::(?P<port>[0-9]{1,5}))?"
    rf"(?:/(?P<database>(?:{_ANY})*))?"
    rf"(?:\?(?P<options>(?:{_ANY}|[!$&'()*+,=:@/])*))?"
    r"(?:#(?P<name>[^@/:?#]*))?"
)
_SECRETS = ("password", "sslpassword")
_OPTIONS = (
    *("host", "hostaddr", "port", "dbname", "user", "passfile", "service", "options"),
    *("application_name", "channel_binding", "client_encoding", "connect_timeout"),
    *("gssencmode", "gsslib", "krbsrvname", "load_balance_hosts", "require_auth"),
    *("keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval"),
    *("requirepeer", "sslcert", "sslcompression", "sslcrl", "sslcrldir", "sslkey", "sslmode"),
    *("sslnegotiation", "sslrootcert", "sslsni", "ssl_max_protocol_version"),
    *("ssl_min_protocol_version", "target_session_attrs", "tcp_user_timeout"),
)
_MOST_PORT = 65535


@dataclass(frozen=True, slots=True)
class PostgreSQLAddress:
    """An address in parts, decoded. It prints without its secrets."""

    user: str | None = field(repr=False)
    password: str | None = field(repr=False)
    host: str | None
    port: int | None
    database: str | None
    options: tuple[tuple[str, str], ...] = field(repr=False)
    name: str  # of a schema or a table; or empty

    @property
    def has_secret(self) -> bool:
        """Whether it holds a password, in whichever part."""
        settings = dict(self.options).get("options", "").lower()
        return (
            self.password is not None
            or ":" in (self.user or "")
            or any(name in _SECRETS for name, _ in self.options)
            or any(word in settings for word in ("password", "secret", "token"))
        )

    @property
    def parts(self) -> dict[str, Any]:
        """Its parts under the names that SQLAlchemy's `URL.create` gives them."""
        return {
            "username": self.user,
            "password": self.password,
            "host": self.host,
            "port": self.port,
            "database": self.database,
            "query": dict(self.options),
        }

    @property
    def shown(self) -> str:
        """The address as it may be shown: without the user, the password and the options."""
        host = self.host or dict(self.options).get("host", "")
        port = f":{self.port}" if self.port is not None else ""
        name = f"#{self.name}" if self.name else ""
        return f"postgresql://{host}{port}/{self.database or ''}{name}"


def is_postgresql(text: str) -> bool:
    """Whether a text is meant as an address in PostgreSQL."""
    return re.match(r"postgres[a-z]*(\+[a-z0-9]*)?://", text, re.IGNORECASE) is not None


def read_postgresql(text: str, *, own_options: tuple[str, ...] = ()) -> PostgreSQLAddress:
    """The parts of an address; `own_options` are allowed in addition to PostgreSQL's.

    >>> read_postgresql("postgresql://ann:open-sesame@db.example.org/ledgers#own").shown
    'postgresql://db.example.org/ledgers#own'
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise _unreadable()
    part = {name: value and unquote(value) for name, value in match.groupdict().items()}
    options = []
    for option in filter(None, (match["options"] or "").split("&")):
        name, equals, value = option.partition("=")
        if not equals or name not in (*_OPTIONS, *_SECRETS, *own_options):
            raise _unreadable()
        options.append((name, unquote(value)))
    options_by_name = dict(options)
    ports = (part["port"] or "0", options_by_name.get("port", "0"))
    if len(options_by_name) < len(options) or not all(map(_is_port, ports)):
        raise _unreadable()
    return PostgreSQLAddress(
        part["user"],
        part["password"],
        (part["host"] or "").strip("[]") or None,
        int(part["port"]) if part["port"] else None,
        part["database"] or None,
        tuple(options),
        match["name"] or "",
    )


def _is_port(text: str) -> bool:
    return re.fullmatch("[0-9]{1,5}", text) is not None and int(text) <= _MOST_PORT


def _unreadable() -> InvalidPolicy:
    return InvalidPolicy(
        "This is not an address in PostgreSQL. Write   "
        "postgresql://user@host:port/database?option=value#name   with the options of "
        "PostgreSQL's own programs. In a user, a password or a database write other characters "
        "than letters, digits and . _ ~ - with %, for example %40 for @ and %23 for #. The "
        "address is not shown here, because it may hold a password."
    )
