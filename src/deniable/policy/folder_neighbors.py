"""The other policies in a policy's folder, as far as a ledger must know them.

They may be drafts, or broken, so they are read as TOML only.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.errors import InvalidPolicy
from deniable.policy.ledger_settings import locate_ledger
from deniable.policy.policy import Policy
from deniable.policy.source_addresses import is_address, public_address


@dataclass(frozen=True, slots=True)
class NamedPolicy:
    """What a policy's file says about its ledger, and where its private tables are."""

    file: Path
    ledger_id: str | None
    places: frozenset[Path]  # of its ledger, and of its key
    addresses: frozenset[str]


def names_of(file: Path, policy: Policy) -> NamedPolicy:
    """What a policy that was read says: its file may list a million keys."""
    own = file.resolve()
    places = (str(text) for text in (policy.ledger, policy.ledger_key) if text is not None)
    private = (table for table in policy.tables.values() if not table.public)
    return NamedPolicy(
        own,
        policy.ledger_id,
        frozenset(Path(text).resolve() for text in places if "://" not in text),
        frozenset(table.address for table in private if isinstance(table.source, str)),
    )


def neighbors_of(file: Path) -> tuple[NamedPolicy, ...]:
    """The other policies in a file's folder."""
    own = file.resolve()
    others = (
        neighbor for neighbor in sorted(own.parent.glob("*.toml")) if neighbor.resolve() != own
    )
    policies = (read_names(neighbor) for neighbor in others)
    return tuple(neighbor for neighbor in policies if neighbor is not None)


def read_names(file: Path) -> NamedPolicy | None:
    """What a file says; None if it is no policy."""
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8").removeprefix("\ufeff"))
    except (OSError, ValueError, RecursionError):
        return None
    ledger, tables = (_mapping(read.get(name)) for name in ("ledger", "tables"))
    if not ledger and not tables:
        return None
    ledger_id = ledger.get("id")
    addresses = (_address(_mapping(table), file.parent) for table in tables.values())
    return NamedPolicy(
        file,
        ledger_id if isinstance(ledger_id, str) else None,
        _places(ledger, file),
        frozenset(address for address in addresses if address is not None),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _places(ledger: Mapping[str, Any], file: Path) -> frozenset[Path]:
    store, key = (ledger.get(name) for name in ("store", "key"))
    try:
        settings = locate_ledger(store, key, file.resolve())
    except (InvalidPolicy, TypeError, AttributeError):  # for example an unset variable
        return frozenset()
    texts = (str(text) for text in settings.values() if text is not None)
    return frozenset(Path(text).resolve() for text in texts if "://" not in text)


def _address(table: Mapping[str, Any], folder: Path) -> str | None:
    """The address of a private table's rows, if it has one."""
    source = table.get("source")
    if not isinstance(source, str) or table.get("public") is True:
        return None
    try:
        return public_address(source if is_address(source) else str(folder / source))
    except ValueError:
        return None
