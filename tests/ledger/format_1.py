"""A ledger as format 1 was written: `Ann`, `ann` and `ann ` have a budget each."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable.ledger.stores import sqlite_store

OLD = json.loads((Path(__file__).parent / "format_1.json").read_text())


def write_old(file, key):
    """Writes the ledger, and its key, to files."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for table in sqlite_store.TABLES:
            connection.execute(table)
        for table, rows in (("entries", OLD["entries"]), ("anchor", OLD["anchor"])):
            connection.executemany(f"INSERT INTO deniable_{table} VALUES (?,?,?,?,?)", rows)
    key.write_text(OLD["key"])
    key.chmod(0o600)
    return file
