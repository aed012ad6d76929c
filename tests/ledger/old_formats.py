"""Ledgers as earlier formats were written. In format 1 `Ann`, `ann` and `ann ` have a budget
each; format 2 had no streams."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable.ledger.stores import sqlite_store

OLD, SECOND = (
    json.loads((Path(__file__).parent / f"format_{number}.json").read_text())
    for number in (1, 2)
)


def write_old(file, key, old=OLD):
    """Writes the ledger, its key and its mark to files."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for table in sqlite_store.TABLES:
            connection.execute(table)
        for table, rows in (("entries", old["entries"]), ("anchor", old["anchor"])):
            connection.executemany(f"INSERT INTO deniable_{table} VALUES (?,?,?,?,?)", rows)
    for name, text in ((key.name, old["key"]), (f"{key.name}.mark", old.get("mark"))):
        if text is not None:
            key.with_name(name).write_text(text)
            key.with_name(name).chmod(0o600)
    return file
