"""Where a table is, if not in a file: an address in Spark, PostgreSQL or whatever Ibis opens.

    spark://local?parquet=/data/visits            Spark in this process, a folder of Parquet
    spark://cluster.example.org:15002#db.visits   Spark Connect, a table of its catalog
    spark://#db.visits                            the session that Spark's own settings describe
    postgresql://reader@db.example.org/hospital#public.visits
    ibis://bigquery/project/dataset#visits        what ibis.connect("bigquery://...") opens

After # stands the table; without it, the one that is called as the policy calls it. No
address holds a secret: passwords and tokens come from the environment.
"""

from dataclasses import dataclass
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
    """An address, without the table in it and without any secret."""

    engine: Remote
    address: str
    table: str | None


def is_address(source: object) -> bool:
    """Whether a source is an address rather than a file.

    >>> is_address("postgresql://reader@db/hospital"), is_address("visits.csv")
    (True, False)
    """
    return isinstance(source, str) and source.partition("://")[0] in get_args(Remote)


def place(source: str) -> Place:
    """Where an address leads; refuses one that holds a secret, and does not repeat it.

    >>> place("postgresql://reader@db.example.org/hospital#public.visits")
    Place(engine='postgresql', address='postgresql://reader@db...', table='public.visits')
    >>> place("postgresql://reader:open-sesame@db.example.org/hospital")
    Traceback (most recent call last):
    deniable.errors.InvalidPolicy: The source holds a password or token...
    """
    engine = source.partition("://")[0]
    assert engine in get_args(Remote)
    address, _, table = source.partition("#")
    try:
        parts = urlsplit(address)
        secret = ":" in parts.netloc.rpartition("@")[0]
    except ValueError:
        raise InvalidPolicy("The source is not a well-formed address.") from None
    # Ibis's own address begins one word later, so its user comes in the path.
    secret |= any("@" in one and ":" in one.partition("@")[0] for one in parts.path.split("/"))
    told = {name.lower() for name, _ in parse_qsl(parts.query.replace(";", "&"))}
    told |= {one.partition("=")[0].lower() for one in parts.path.split(";")[1:]}
    secret |= any(word in name for name in told for word in _SECRET)
    if secret:
        raise InvalidPolicy(
            "The source holds a password or token, which a policy must not. Remove it here, "
            f"and set it in the environment as {_WHERE_SECRETS_GO[engine]}."
        )
    return Place(engine, address, table or None)  # type: ignore[arg-type]
