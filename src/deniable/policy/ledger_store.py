"""Where a policy's ledger is kept: a file beside it, or PostgreSQL, whose secrets stay outside.

A policy is public, so an address in it may not hold a password. It comes from the environment:
PGPASSWORD or a password file, as for every PostgreSQL program, or the whole address by name,
as in   store = "$LEDGER".
"""

import os
from pathlib import Path
from typing import TypedDict
from urllib.parse import urlsplit

from deniable.errors import InvalidPolicy

MEMORY = "memory"


class Stored(TypedDict):
    """A policy's arguments about its ledger."""

    ledger: str | None
    ledger_key: str | None


def stored(store: str | None, key: str | None, beside: Path | None) -> Stored:
    """The ledger and the key of a policy in a file; in memory, where it is in none.

    >>> stored(None, None, Path("hospital.toml"))
    {'ledger': 'hospital.ledger.sqlite', 'ledger_key': 'hospital.ledger.key'}
    """
    if store == MEMORY or (store is None and beside is None):
        return {"ledger": None, "ledger_key": None}
    folder = Path() if beside is None else beside.parent
    usual = folder / f"{'deniable' if beside is None else beside.stem}.ledger.sqlite"
    where = str(usual) if store is None else _resolved(store, folder)
    if key is not None:
        kept = folder / key
    elif "://" in where:
        kept = usual.with_suffix(".key")
    else:
        kept = Path(where).with_suffix(".key")
    return {"ledger": where, "ledger_key": str(kept)}


def _resolved(store: str, folder: Path) -> str:
    if store.startswith("$"):
        found = os.environ.get(store[1:])
        if not found:
            raise InvalidPolicy(
                f"The ledger's address is to come from the environment, but {store[1:]} is not "
                f"set. Set it, for example   export {store[1:]}=postgresql://...",
                where=("ledger", "store"),
            )
        return _known(found) if "://" in found else str(folder / found)
    if "://" not in store:
        return str(folder / store)
    if urlsplit(store).password is not None:
        raise InvalidPolicy(
            "A policy is public, so its ledger's address may hold no password. Leave it to "
            'PGPASSWORD, or take the whole address from the environment:   store = "$LEDGER"',
            where=("ledger", "store"),
        )
    return _known(store)


def _known(address: str) -> str:
    begun = address.partition("://")[0]
    if begun.partition("+")[0] in ("postgresql", "postgres"):
        return address
    raise InvalidPolicy(
        f"A ledger is a file, or an address that begins with postgresql://, not {begun}://.",
        where=("ledger", "store"),
    )
