"""Tables that are not in a file of their own: addresses in Spark, PostgreSQL or through Ibis.

    spark://local?parquet=/data/visits            Spark in this process, a folder of Parquet
    spark://cluster.example.org:15002#db.visits   Spark Connect, a table of its catalog
    spark://#db.visits                            the session of Spark's own settings
    postgresql://reader@db.example.org/hospital#public.visits
    ibis://sqlite/hospital.sqlite#visits          a file of a database that Ibis opens

The table follows after #. Without #, the table has the same name as in the policy. An address
in a policy never holds a secret: passwords and tokens come from the environment, or the whole
address does, as in   source = "$HOSPITAL"   or   source = "$HOSPITAL#public.visits".
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import parse_qsl, urlsplit

from deniable.errors import InvalidPolicy
from deniable.policy.postgresql_addresses import read_postgresql

RemoteEngine: TypeAlias = Literal["spark", "postgresql", "ibis"]

_SECRET = ("password", "passwd", "pwd", "token", "secret", "credential", "apikey", "api_key")
_SECRET_OPTION = re.compile(rf"[^?&;/ ]*({'|'.join(_SECRET)})[^=?&;/ ]*=[^&;]*", re.IGNORECASE)
# What drivers read from the environment if an address does not say it.
_AROUND: dict[str, tuple[str, ...]] = {
    "postgresql": (
        *("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER"),
        *("PGSERVICE", "PGSERVICEFILE", "PGOPTIONS"),
    ),
    "spark": ("SPARK_REMOTE", "SPARK_CONF_DIR", "SPARK_HOME"),
    "ibis": (),
}
_TIME_LIMIT = ("timeout",)  # of one statement, in seconds
_ON_THIS_MACHINE = ("", "local", "duckdb", "sqlite")
_WHERE_SECRETS_GO = {
    "spark": "DENIABLE_SPARK_TOKEN",
    "postgresql": "PGPASSWORD (or PostgreSQL's password file)",
}


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """An address, apart from the table. The address is not printed: if it came from the
    environment, it may hold a secret."""

    engine: RemoteEngine
    address: str = field(repr=False)
    table: str | None


def is_address(source: object) -> bool:
    """Whether a source is an address, or names one in the environment, and is not a file.

    >>> is_address("postgresql://reader@db/hospital"), is_address("visits.csv")
    (True, False)
    """
    return isinstance(source, str) and (source.startswith("$") or "://" in source)


def is_untyped(source: object) -> bool:
    """Whether a source is a file of text: its columns have no types.

    >>> is_untyped("visits.csv"), is_untyped("visits.parquet")
    (True, False)
    """
    if not isinstance(source, str | Path) or is_address(source):
        return False
    return str(source).lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz"))


def check_address(source: str) -> str:
    """The address, if a policy may hold it. One with a secret is refused and not quoted.

    >>> check_address("postgresql://reader:open-sesame@db.example.org/hospital")
    Traceback (most recent call last):
    deniable.errors.InvalidPolicy: `source` holds a password or token...
    """
    if source.startswith("$"):
        return source
    engine = source.partition("://")[0]
    if engine not in get_args(RemoteEngine):
        # The rest of the address may hold a secret, so it is not quoted.
        quote = f" Found {engine}://." if engine.isalnum() else ""
        raise InvalidPolicy(
            "`source` must be the path of a file, or an address that begins with spark://, "
            f"postgresql:// or ibis://.{quote} Download a remote file first, and give its path."
        )
    if not has_secret(source):
        return source
    where = _WHERE_SECRETS_GO.get(engine)
    other = f"set {where} in the environment, or " if where else ""
    raise InvalidPolicy(
        "`source` holds a password or token, but a policy is public. Remove it here and "
        f'{other}take the whole address from the environment:   source = "$NAME"'
    )


def read_address(source: str) -> SourceAddress:
    """The engine, address and table of a source; reads the environment if it says so.

    >>> read_address("postgresql://reader@db.example.org/hospital#public.visits")
    SourceAddress(engine='postgresql', table='public.visits')
    """
    variable, _, own_table = (
        source[1:].partition("#") if source.startswith("$") else (None, "", "")
    )
    whole = check_address(source) if variable is None else os.environ.get(variable, "")
    address, _, table = whole.partition("#")
    engine, table = address.partition("://")[0], own_table or table
    if engine == "postgresql":
        read_postgresql(
            whole, own_options=_TIME_LIMIT
        )  # or a part of a password may be taken for a table
    if engine not in get_args(RemoteEngine):
        raise InvalidPolicy(
            f"`source` names the environment variable {variable}, which is not set to an "
            f"address. Set it, for example   export {variable}=postgresql://..."
        )
    return SourceAddress(engine, address, table or None)  # type: ignore[arg-type]


def public_address(source: str) -> str:
    """Where a source is, without secrets. Two sources with one address hold the same data, if
    the owner's `version` is the same. Nothing of the data itself is in it: no content, size
    or time.

    The path of a file is absolute and follows links. An address from the environment, and what
    a driver reads from there if the address does not say it, are part of it.

    >>> public_address("postgresql://reader@db.example.org/hospital#public.visits")
    'postgresql://reader@db.example.org/hospital#public.visits'
    """
    if not is_address(source):
        path, mark, inner = source.rpartition("#") if "#" in source else (source, "", "")
        return f"{os.path.realpath(path)}{mark}{inner}"
    address = read_address(source)
    around = [
        f"{name}={os.environ[name]}" for name in _AROUND[address.engine] if name in os.environ
    ]
    backend = urlsplit(address.address).netloc.partition(":")[0]
    if address.engine != "postgresql" and backend in _ON_THIS_MACHINE:
        around.append(f"in={Path.cwd()}")
    settings = "".join(f" {_without_secrets(setting)}" for setting in around)
    return f"{_without_secrets(address.address)}#{address.table or ''}{settings}"


def _without_secrets(address: str) -> str:
    """An address without passwords and tokens."""
    parts = [part.rpartition("@") for part in address.split("/")]
    users = "/".join(f"{user.partition(':')[0]}{at}{rest}" for user, at, rest in parts)
    return _SECRET_OPTION.sub("", users)


def has_secret(source: str) -> bool:
    """Whether an address holds a password or a token."""
    if source.startswith("postgresql://"):
        return read_postgresql(source, own_options=_TIME_LIMIT).has_secret
    try:
        parts = urlsplit(source.partition("#")[0])
    except ValueError:
        raise InvalidPolicy(
            "This is not a well-formed address. Write it like   spark://host:15002#table"
        ) from None
    # In an ibis:// address the user may be in the path: the backend's name comes first.
    users = [part.rpartition("@")[0] for part in (parts.netloc, *parts.path.split("/"))]
    options = {name.lower() for name, _ in parse_qsl(parts.query.replace(";", "&"))}
    options |= {part.partition("=")[0].lower() for part in parts.path.split(";")[1:]}
    secret = any(word in name for name in options for word in _SECRET)
    return secret or any(":" in user for user in users)
