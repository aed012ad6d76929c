"""A ledger whose files, tables or policy are changed while sessions are open.

`World` is a policy with a budget of 1, its ledger, and open sessions, each of which asks for an
eighth of it until it is refused. An attack changes one thing between two questions. Whatever it
is, all answers together may not cost more than 1, and each refusal is one of our own errors.
"""

import json
import os
import shutil
import sqlite3
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import psycopg

from deniable.errors import DeniableError
from deniable.ledger.beginning import load_with_ledger
from deniable.ledger.durable_ledger import open_ledger
from deniable.release.public_session import Session
from tests.ledger.racing import StillEngine

TEXT = """[budget]
epsilon = 1
[units.y]
epsilon = 1
[tables.data]
source = "data.csv"
unit = "x"
[tables.others]
source = "others.csv"
unit = "y"
"""
SHARE = Fraction(1, 8)


class World:
    """A policy in a folder, with its ledger in a file or at an address of PostgreSQL."""

    def __init__(self, folder, address=None):
        self.folder, self.address = folder, address
        self.policy = folder / "hospital.toml"
        self.mark = folder / "hospital.ledger.key.mark"
        self.file = folder / "hospital.ledger.sqlite"
        self.settings = "" if address is None else f'[ledger]\nstore = "{address}"\n'
        self.policy.write_text(TEXT + self.settings)
        self.sessions, self.spent, self.refused, self.older = [], Fraction(0), 0, {}

    def open(self):
        """Another session, unless it is refused."""
        try:
            policy = load_with_ledger(self.policy)
            session = Session(policy, StillEngine(lambda: None), open_ledger(policy))
            sources = {
                Path(protected.source).name: name for name, protected in policy.tables.items()
            }
            table = sources["data.csv"]  # these rows, by whatever name
            question = session.plan(f"SELECT COUNT(*) AS n FROM {table}", epsilon=SHARE)
            self.sessions.append((session, question))
        except DeniableError:
            self.refused += 1

    def ask_all(self, times):
        """Each session asks that many times; what is answered is spent."""
        for session, question in self.sessions:
            for _ in range(times):
                try:
                    session.release(question, fresh=True)
                    self.spent += SHARE
                except DeniableError:
                    self.refused += 1

    def remember(self):
        """What an attack may put back later."""
        for path in (self.mark, self.file, self.policy):
            if path.exists():
                self.older[path] = path.read_bytes()
        if self.address is not None:
            self.rows = {
                table: self.execute(f"SELECT * FROM {table}", fetch=True)
                for table in self.tables
            }

    tables = ("deniable_entries", "deniable_anchor")

    def execute(self, *statements, fetch=False):
        """Runs statements in the ledger's database, as another program."""
        if self.address is None:
            connection = sqlite3.connect(self.file, isolation_level=None, timeout=0)
            for statement in statements:
                connection.execute(statement).fetchall()
            return connection.close()
        address, _, schema = self.address.partition("#")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"SET search_path = {schema}")
            cursors = [connection.execute(statement) for statement in statements]
            return cursors[-1].fetchall() if fetch else None

    def close(self):
        for session, _ in self.sessions:
            with suppress(DeniableError):
                session.close()


def _put(path, content):
    """A new file in the place of another."""
    new = path.with_name("new")
    new.write_bytes(content)
    new.replace(path)


def _write_over(path, content):
    with path.open("r+b") as out:
        out.write(content)
        out.truncate()


def _away_and_back(path):
    def attack(world):
        away = path(world).rename(world.folder / "away")
        world.ask_all(2)
        world.open()
        away.rename(path(world))

    return attack


def _other(world, name):
    """A file of the ledger of another policy."""
    folder = world.folder / "other"
    folder.mkdir(exist_ok=True)
    other = World(folder)
    other.open()
    other.ask_all(1)
    other.close()
    return (folder / name).read_bytes()


def _edit(change):
    def attack(world):
        world.policy.write_text(change(world.policy.read_text()))

    return attack


def _rename_policy(world, *, keep_id):
    text = world.policy.read_text()
    world.policy.unlink()
    world.policy = world.folder / "clinic.toml"
    world.policy.write_text(text if keep_id else TEXT + world.settings)


def _copy_policy(world):
    world.policy = world.folder / "copy.toml"
    world.policy.write_text(f'{TEXT}[ledger]\nstore = "copy.sqlite"\n')


def _older_rows(world):
    """The rows of PostgreSQL as they were."""
    world.execute(*(f"DELETE FROM {table}" for table in world.tables))
    address, _, schema = world.address.partition("#")
    with psycopg.connect(address, autocommit=True) as connection:
        for table, rows in world.rows.items():
            marks = ", ".join(["%s"] * len(rows[0])) if rows else ""
            for row in rows:
                connection.execute(f"INSERT INTO {schema}.{table} VALUES ({marks})", row)


def _statements(*statements):
    return lambda world: world.execute(*statements)


def _mark(**change):
    def attack(world):
        world.mark.write_text(json.dumps(json.loads(world.mark.read_text()) | change))

    return attack


def _wal(world):
    """Write-ahead mode by another program, whose log is then lost."""
    world.execute("PRAGMA journal_mode = WAL")
    world.ask_all(1)
    for end in ("-wal", "-shm", "-journal"):
        world.file.with_name(world.file.name + end).unlink(missing_ok=True)


def _copy_beside_wal(world):
    """A copy of the main file alone, in write-ahead mode, takes its place."""
    world.execute("PRAGMA journal_mode = WAL")
    alone = world.file.read_bytes()
    world.ask_all(2)
    for end in ("-wal", "-shm"):
        world.file.with_name(world.file.name + end).unlink(missing_ok=True)
    _write_over(world.file, alone)


BOTH = {
    "mark deleted": lambda world: world.mark.unlink(),
    "mark rolled back": lambda world: _put(world.mark, world.older[world.mark]),
    "mark replaced": lambda world: _put(world.mark, _other(world, world.mark.name)),
    "mark emptied": lambda world: world.mark.write_text(""),
    "mark renamed": _away_and_back(lambda world: world.mark),
    "mark not begun": _mark(number=-1, hash=""),
    "mark ahead": _mark(number=10**6),
    "policy deleted": lambda world: world.policy.unlink(),
    "policy renamed": lambda world: _rename_policy(world, keep_id=True),
    "policy renamed without its id": lambda world: _rename_policy(world, keep_id=False),
    "policy without its id": lambda world: world.policy.write_text(TEXT + world.settings),
    "policy rolled back": lambda world: _put(world.policy, TEXT.encode()),
    "policy with more epsilon": _edit(lambda text: text.replace("epsilon = 1", "epsilon = 9")),
    "policy with another unit": _edit(lambda text: text.replace('unit = "x"', "")),
    "policy with a renamed table": _edit(lambda text: text.replace("data]", "data2]")),
    "policy with a renamed table of another unit": _edit(
        lambda text: text.replace("data]", "data2]").replace('unit = "x"', 'unit = "y"')
    ),
    "policy with its source in a table of another unit": _edit(
        lambda text: text.replace("others.csv", "data.csv")
    ),
    "policy with its sources swapped": _edit(
        lambda text: (
            text.replace("others.csv", "o")
            .replace("data.csv", "others.csv")
            .replace('"o"', '"data.csv"')
        )
    ),
    "policy with a budget of its own": _edit(lambda text: f"{text}\n[units.x]\nepsilon = 9\n"),
    "policy with another id": _edit(lambda text: text.replace('id = "', 'id = "0')),
    "policy in memory": _edit(lambda text: text.replace("id =", 'store = "memory"\nid =')),
    "policy in memory without its id": lambda world: world.policy.write_text(
        f'{TEXT}[ledger]\nstore = "memory"\n'
    ),
    "policy copied without its id": _copy_policy,
    "policy elsewhere and back": _away_and_back(lambda world: world.policy),
}
SQLITE = {
    "file deleted": lambda world: world.file.unlink(),
    "file emptied": lambda world: _write_over(world.file, b""),
    "file rolled back in place": lambda world: _write_over(world.file, world.older[world.file]),
    "file rolled back": lambda world: _put(world.file, world.older[world.file]),
    "file replaced by a copy": lambda world: _put(world.file, world.file.read_bytes()),
    "file replaced": lambda world: _put(world.file, _other(world, world.file.name)),
    "file renamed": _away_and_back(lambda world: world.file),
    "file linked": lambda world: os.link(world.file, world.folder / "twin"),
    "file behind a link": lambda world: world.file.symlink_to(
        shutil.move(world.file, world.folder / "moved")
    ),
    "wal lost": _wal,
    "wal left out of a copy": _copy_beside_wal,
    "journal of garbage": lambda world: world.file.with_name(
        f"{world.file.name}-journal"
    ).write_bytes(os.urandom(5_000)),
    "schema with a trigger": _statements(
        "CREATE TRIGGER t BEFORE INSERT ON deniable_entries BEGIN SELECT RAISE(IGNORE); END"
    ),
    "schema without its tables": _statements(
        "DROP TABLE deniable_entries", "DROP TABLE deniable_anchor"
    ),
    "schema with a renamed table": _statements(
        "ALTER TABLE deniable_anchor RENAME TO deniable_before"
    ),
    "schema with another table": _statements("CREATE TABLE mine (x)"),
    "rows deleted": _statements("DELETE FROM deniable_entries", "DELETE FROM deniable_anchor"),
}
TRIGGER = (
    "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "CREATE TRIGGER t BEFORE UPDATE ON deniable_anchor FOR EACH ROW EXECUTE FUNCTION forget()",
)
POSTGRESQL = {
    "rows rolled back": _older_rows,
    "rows deleted": _statements("DELETE FROM deniable_entries", "DELETE FROM deniable_anchor"),
    "schema with a trigger": _statements(*TRIGGER),
    "schema with a rule": _statements(
        "CREATE RULE r AS ON INSERT TO deniable_entries DO INSTEAD NOTHING"
    ),
    "schema without its tables": _statements("DROP TABLE deniable_entries, deniable_anchor"),
    "schema with a renamed table": _statements(
        "ALTER TABLE deniable_anchor RENAME TO deniable_before"
    ),
    "schema with copies of its tables": _statements(
        *(
            statement
            for table in World.tables
            for statement in (
                f"CREATE TABLE twin AS SELECT * FROM {table}",
                f"DROP TABLE {table}",
                f"ALTER TABLE twin RENAME TO {table}",
            )
        )
    ),
}


def attacks(address):
    """The attacks on a store, by name."""
    return BOTH | (SQLITE if address is None else POSTGRESQL)


def swap(world, attack, before, between):
    """Sessions ask, are attacked, and ask on as long as they can; new ones too."""
    for _ in range(2):
        world.open()
    world.ask_all(before)
    world.remember()
    world.ask_all(between)
    attack(world)
    world.ask_all(1)
    for _ in range(2):
        world.open()
    world.ask_all(9)
    world.open()
    world.ask_all(9)
    world.close()
    return world.spent
