"""Where a policy's ledger is kept: in a file next to it, or in PostgreSQL.

A policy is public, so an address in it may not hold a password. The password comes from
PGPASSWORD or a password file, as for every PostgreSQL program. Or the whole address comes from
the environment, as in   store = "$LEDGER".
"""

import os
from pathlib import Path
from typing import TypedDict

from deniable.errors import InvalidPolicy
from deniable.policy.source_addresses import has_secret

MEMORY = "memory"


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
    if store.startswith("$"):
        value = os.environ.get(store[1:])
        if not value:
            raise InvalidPolicy(
                f"`store` names the environment variable {store[1:]}, which is not set. Set "
                f"it, for example   export {store[1:]}=postgresql://...",
                where=("ledger", "store"),
            )
        return _check_address(value) if "://" in value else str(folder / value)
    if "://" not in store:
        return str(folder / store)
    if has_secret(store):
        raise InvalidPolicy(
            "`store` holds a password, but a policy is public. Remove it here and set "
            "PGPASSWORD in the environment, or take the whole address from there:   "
            'store = "$LEDGER"',
            where=("ledger", "store"),
        )
    return _check_address(store)


def _check_address(address: str) -> str:
    scheme = address.partition("://")[0]
    if scheme.partition("+")[0] in ("postgresql", "postgres"):
        return address
    raise InvalidPolicy(
        "`store` must be the path of a file, or an address that begins with postgresql://. "
        f"Found {scheme}://.",
        where=("ledger", "store"),
    )
