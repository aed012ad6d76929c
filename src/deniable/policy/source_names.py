"""Names of the place that a table's rows come from: tables that share one hold the same rows.

A ledger remembers hashes of them, so it notices when a table is pointed at rows that were
protected as another table. Nothing of the data is in a name, and no secret.
"""

import hashlib
import os
import re
from pathlib import Path

from deniable.policy.policy import Policy
from deniable.policy.source_addresses import is_address
from deniable.policy.table import Table


def source_names(policy: Policy) -> dict[str, tuple[str, ...]]:
    """Hashes of the names of each table's source. A frame has no name.

    >>> names = source_names(Policy([Table("visits", "v.csv"), Table("v", "v.csv")], epsilon=1))
    >>> names["visits"] == names["v"]
    True
    """
    folder = None if policy.ledger_key is None else Path(policy.ledger_key).parent
    named = {name: _names(table, folder) for name, table in policy.tables.items()}
    return {name: _hashes(names) for name, names in named.items() if names}


def _names(table: Table, folder: Path | None) -> set[str]:
    """The address; also from the policy's folder, which may move, and for any user."""
    if not isinstance(table.source, str):
        return set()
    if is_address(table.source):
        return {table.address, re.sub("//[^/@]*@", "//", table.address)}
    if folder is None:
        return {table.address}
    return {table.address, f"./{os.path.relpath(table.address, os.path.realpath(folder))}"}


def _hashes(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(hashlib.sha256(name.encode()).hexdigest() for name in names))
