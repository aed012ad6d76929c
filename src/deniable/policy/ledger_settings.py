"""Where a policy's ledger is kept: in a file next to it, or in PostgreSQL.

A policy is public, so an address in it may not hold a password. The password comes from
PGPASSWORD or a password file, as for every PostgreSQL program. Or the whole address comes from
the environment, as in   store = "$LEDGER".

A store is the path of a file, or an address in PostgreSQL. Whatever looks like neither, or like
both, is refused and not quoted: it may hold a password, and would name a file.
"""

import os
import re
from pathlib import Path
from typing import TypedDict

from deniable.errors import InvalidPolicy
from deniable.policy.postgresql_addresses import (
    PostgreSQLAddress,
    is_postgresql,
    read_postgresql,
)

MEMORY = "memory"
_SCHEME = re.compile(  # and not the letter of a drive
    r"[a-z][a-z0-9+.-]+:/|(?:postgres|jdbc|mysql|sqlite)[a-z0-9+.-]*:", re.IGNORECASE
)
_SETTING = re.compile(
    r"(?:^|\s)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslpassword)\s*=",
    re.IGNORECASE,
)
_SCHEMA = re.compile("[a-z_][a-z0-9_]{0,62}")


class LedgerSettings(TypedDict):
    """A policy's arguments about its ledger."""

    ledger: str | None
    ledger_key: str | None


def locate_ledger(
    store: str | None, key: str | None, policy_file: Path | None
) -> LedgerSettings:
    """The ledger and the key of a policy in the file `policy_file`; without a file, in memory.

    >>> locate_ledger(None, None, Path("hospital.toml"))
    {'ledger': 'hospital.ledger.sqlite', 'ledger_key': 'hospital.ledger.key'}
    """
    if store == MEMORY or (store is None and policy_file is None):
        return {"ledger": None, "ledger_key": None}
    folder = Path() if policy_file is None else policy_file.parent
    usual = folder / f"{'deniable' if policy_file is None else policy_file.stem}.ledger.sqlite"
    ledger = str(usual) if store is None else _resolve(store, folder)
    if key is not None:
        key_file = folder / key
    elif "://" in ledger:
        key_file = usual.with_suffix(".key")
    else:
        key_file = Path(ledger).with_suffix(".key")
    return {"ledger": ledger, "ledger_key": str(key_file)}


def _resolve(store: str, folder: Path) -> str:
    value = store
    if store.startswith("$"):
        value = os.environ.get(store[1:], "")
        if not value:
            raise InvalidPolicy(
                f"`store` names the environment variable {store[1:]}, which is not set. Set "
                f"it, for example   export {store[1:]}=postgresql://...",
                where=("ledger", "store"),
            )
    try:
        address = read_store(value)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=("ledger", "store")) from None
    if isinstance(address, Path):
        return str(folder / address)
    if address.has_secret and not store.startswith("$"):
        raise InvalidPolicy(
            "`store` holds a password, but a policy is public. Remove it here and set "
            "PGPASSWORD in the environment, or take the whole address from there:   "
            'store = "$LEDGER"',
            where=("ledger", "store"),
        )
    return value


def read_store(where: str | Path) -> Path | PostgreSQLAddress:
    """The file or the address of a ledger, which names a schema after #.

    >>> read_store("host=db password=open-sesame")
    Traceback (most recent call last):
    deniable.errors.InvalidPolicy: A ledger is kept in a file, whose path...
    """
    if isinstance(where, Path):
        return where
    if is_postgresql(where):
        address = read_postgresql(where)
        if address.name and not _SCHEMA.fullmatch(address.name):
            raise InvalidPolicy(
                "The schema of a ledger is a name of small letters, digits and _, as in   "
                "postgresql://user@host/database#ledgers"
            )
        if "search_path" in dict(address.options).get("options", ""):
            raise InvalidPolicy(
                "The address of a ledger may not set search_path. Name the schema after #, as "
                "in   postgresql://user@host/database#ledgers"
            )
        return address
    name = re.split(r"[/\\]", where)[-1]
    if looks_like_settings(where) or not where.isprintable() or set(name) & set("=@:"):
        raise InvalidPolicy(
            "A ledger is kept in a file, whose path is given (a name without = @ and :), or at "
            "an address that begins with postgresql://. This is neither. It is not shown here, "
            "because it may hold a password."
        )
    return Path(where)


def looks_like_settings(text: str) -> bool:
    """Whether a text that should be a path looks like an address, or like libpq's settings."""
    return bool(_SCHEME.match(text) or _SETTING.search(text))


def shown_store(where: str | Path) -> str:
    """The place of a ledger as it may be shown: without the user, password and options.

    >>> shown_store("postgresql://ann:open-sesame@db.example.org/ledgers?password=1#own")
    'postgresql://db.example.org/ledgers#own'
    """
    address = read_store(where)
    return str(address) if isinstance(address, Path) else address.shown
