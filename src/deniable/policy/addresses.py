"""Where a table is, if not in a file: an address in Spark, PostgreSQL or whatever Ibis opens.

    spark://local?parquet=/data/visits            Spark in this process, a folder of Parquet
    spark://cluster.example.org:15002#db.visits   Spark Connect, a table of its catalog
    spark://#db.visits                            the session that Spark's own settings describe
    postgresql://reader@db.example.org/hospital#public.visits
    ibis://bigquery/project/dataset#visits        what ibis.connect("bigquery://...") opens

After # stands the table; without it, the one that is called as the policy calls it. No
address in a policy holds a secret: passwords and tokens come from the environment, or the
whole address does, as in   source = "$HOSPITAL"   or   source = "$HOSPITAL#public.visits".
"""

import os
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args
from urllib.parse import parse_qsl, urlsplit

from deniable.errors import InvalidPolicy

Remote: TypeAlias = Literal["spark", "postgresql", "ibis"]

_SECRET = ("password", "passwd", "pwd", "token", "secret", "credential", "apikey", "api_key")
_WHERE_SECRETS_GO = {
    "spark": "DENIABLE_SPARK_TOKEN",
    "postgresql": "PGPASSWORD (or PostgreSQL's password file)",
    "ibis": "DENIABLE_IBIS_PASSWORD",
}


@dataclass(frozen=True, slots=True)
class Place:
    """An address, without the table in it. It is not shown: it may hold a secret of the
    environment's."""

    engine: Remote
    address: str = field(repr=False)
    table: str | None


def is_address(source: object) -> bool:
    """Whether a source is an address, or the name of one, rather than a file.

    >>> is_address("postgresql://reader@db/hospital"), is_address("visits.csv")
    (True, False)
    """
    return isinstance(source, str) and (source.startswith("$") or "://" in source)


def checked(source: str) -> str:
    """An address as a policy may hold it; one with a secret is refused, and not repeated.

    >>> checked("postgresql://reader:open-sesame@db.example.org/hospital")
    Traceback (most recent call last):
    deniable.errors.InvalidPolicy: The source holds a password or token...
    """
    if source.startswith("$"):
        return source
    engine = source.partition("://")[0]
    if engine not in get_args(Remote):
        # Whatever follows may hold a secret, so it is not repeated.
        begun = f", not {engine}://" if engine.isalnum() else ""
        raise InvalidPolicy(
            "A source is the path of a file, or an address that begins with spark://, "
            f"postgresql:// or ibis://{begun}. Fetch a file from elsewhere first, and name it."
        )
    if not _has_secret(source):
        return source
    where = _WHERE_SECRETS_GO[engine]
    raise InvalidPolicy(
        "The source holds a password or token, which a policy must not. Remove it here and "
        f"set {where} in the environment, or take the whole address from there:   "
        'source = "$NAME"'
    )


def place(source: str) -> Place:
    """Where an address leads.

    >>> place("postgresql://reader@db.example.org/hospital#public.visits")
    Place(engine='postgresql', table='public.visits')
    """
    named, _, chosen = source[1:].partition("#") if source.startswith("$") else (None, "", "")
    found = checked(source) if named is None else os.environ.get(named, "")
    address, _, table = found.partition("#")
    engine, table = address.partition("://")[0], chosen or table
    if engine not in get_args(Remote):
        raise InvalidPolicy(
            f"The source is to come from the environment, but {named} is not set to an "
            f"address. Set it, for example   export {named}=postgresql://..."
        )
    return Place(engine, address, table or None)  # type: ignore[arg-type]


def _has_secret(source: str) -> bool:
    try:
        parts = urlsplit(source.partition("#")[0])
    except ValueError:
        raise InvalidPolicy("The source is not a well-formed address.") from None
    # Ibis's own address begins one word later, so its user comes in the path.
    users = [one.rpartition("@")[0] for one in (parts.netloc, *parts.path.split("/"))]
    told = {name.lower() for name, _ in parse_qsl(parts.query.replace(";", "&"))}
    told |= {one.partition("=")[0].lower() for one in parts.path.split(";")[1:]}
    hidden = any(word in name for name in told for word in _SECRET)
    return hidden or any(":" in user for user in users)
