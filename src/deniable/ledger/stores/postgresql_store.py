"""What a ledger demands of its PostgreSQL schema: our two tables, with nothing attached.

Every name is qualified with the schema that the policy fixes, and `search_path` holds
PostgreSQL's own functions and operators only. A trigger, a rule, row security, a child table or
a generated column could change what a statement of ours does. So our tables must be ordinary,
permanent tables without any of these. Other tables of the database do not matter. An append
first takes the lock that conflicts with such changes, then looks, then writes.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import sqlalchemy as sa

from deniable.errors import LedgerBroken, MissingExtra
from deniable.ledger.stores import patience
from deniable.ledger.stores.store_errors import LOCK_NOT_AVAILABLE

Connect: TypeAlias = Callable[[], AbstractContextManager[sa.Connection]]

DEFAULT_SCHEMA = "public"
_PLACES = ("host", "hostaddr", "port", "dbname", "user")  # options that are no secret
_CREATION_LOCK = 0x64656E69  # number of PostgreSQL's advisory lock for creating the tables

_TABLES = (
    'CREATE TABLE "{}".deniable_entries (number int8 PRIMARY KEY, body text NOT NULL,'
    " hash text NOT NULL, ends text UNIQUE, recall text)",
    'CREATE INDEX ix_deniable_entries_recall ON "{}".deniable_entries (recall)',
    'CREATE TABLE "{}".deniable_anchor (id int4 PRIMARY KEY, number int8 NOT NULL,'
    " hash text NOT NULL, state text NOT NULL, signature text NOT NULL)",
)
_COLUMNS = {
    "deniable_entries": "number int8 t|body text t|hash text t|ends text f|recall text f",
    "deniable_anchor": "id int4 t|number int8 t|hash text t|state text t|signature text t",
}
_KEYS = {"deniable_entries": {"p:number", "u:ends"}, "deniable_anchor": {"p:id"}}

_TABLE_FACTS = """
SELECT c.relname, c.oid, c.xmin::text,
    c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relispartition
        AND NOT c.relhasrules AND NOT c.relrowsecurity AND NOT c.relforcerowsecurity
        AND NOT EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
        AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid)
        AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)
        AND NOT EXISTS (SELECT FROM pg_attrdef d WHERE d.adrelid = c.oid) AS plain,
    (SELECT string_agg(
        concat_ws(' ', a.attname, t.typname, CASE WHEN a.attnotnull THEN 't' ELSE 'f' END),
        '|' ORDER BY a.attnum)
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND t.typnamespace = 'pg_catalog'::regnamespace
            AND a.attgenerated = '' AND a.attidentity = '') AS column_list,
    (SELECT count(*) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS width,
    (SELECT array_agg(concat(k.contype, ':',
        (SELECT string_agg(a.attname, ',') FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum = ANY (k.conkey))))
        FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype <> 'n') AS key_list,
    (SELECT bool_and(x.indisvalid AND x.indpred IS NULL AND x.indexprs IS NULL)
        FROM pg_index x WHERE x.indrelid = c.oid) AS indexed
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relname IN ('deniable_entries', 'deniable_anchor')
"""


class PostgreSQLStore:
    """The two tables of a ledger, in one schema of a database."""

    creating = ("BEGIN", f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})")
    looking = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",)  # at the catalog only

    is_there = True  # or else the server says so

    def __init__(self, url: sa.URL, schema: str, name: str) -> None:
        self.url, self.schema, self.name = url, schema, name
        options = [str(value) for key, value in url.query.items() if key not in _PLACES]
        self.hidden = (*options, url.password or "")  # what errors may not repeat
        tables = ", ".join(f'"{schema}".{table}' for table in _COLUMNS)
        anchor = f'SELECT 1 FROM "{schema}".deniable_anchor WHERE id = 1 FOR UPDATE'
        self.writing = ("BEGIN", f"LOCK TABLE {tables} IN ROW EXCLUSIVE MODE", anchor)
        self.reading = (*self.looking, f"LOCK TABLE {tables} IN ACCESS SHARE MODE")

    def open_engine(self, options: dict[str, Any]) -> sa.Engine:
        options["execution_options"] = {"schema_translate_map": {None: self.schema}}
        try:
            return sa.create_engine(self.url, **options)
        except (ModuleNotFoundError, sa.exc.NoSuchModuleError):
            raise MissingExtra(
                "A ledger in PostgreSQL needs the package psycopg. Install it with   "
                "pip install 'deniable[postgresql]'"
            ) from None

    def prepare(self, cursor: Any) -> None:
        """Sets up a new connection, whatever the server's configuration says."""
        cursor.execute("SET synchronous_commit = on")
        cursor.execute("SET search_path = pg_catalog")
        cursor.execute(f"SET lock_timeout = {_milliseconds(patience.LOCK_TIMEOUT)}")

    def run_within(
        self, connection: sa.Connection, statements: tuple[str, ...], seconds: float
    ) -> bool:
        """Runs statements that may have to wait for a lock; False if they could not get it."""
        begin, *rest = statements
        limit = f"SET LOCAL lock_timeout = {_milliseconds(seconds)}"
        try:
            # In one message: each would cost a round trip.
            connection.exec_driver_sql("; ".join((begin, limit, *rest) if rest else (begin,)))
        except sa.exc.OperationalError as problem:
            if getattr(problem.orig, "sqlstate", "") != LOCK_NOT_AVAILABLE:
                raise
            connection.exec_driver_sql("ROLLBACK")
            return False
        return True

    def create_private_file(self) -> None:
        return

    def check_place(self) -> None:
        return

    def check_mode(self, connection: sa.Connection) -> None:
        return

    def schema_version(self, connection: sa.Connection) -> object:
        """None: PostgreSQL keeps no such number, so the tables are looked at each time."""
        return None

    def exists(self, connection: sa.Connection) -> bool:
        """Whether the tables were made."""
        return len(self._facts(connection)) == len(_COLUMNS)

    def create(self, connection: sa.Connection) -> None:
        if not self.exists(connection):
            for statement in _TABLES:
                connection.exec_driver_sql(statement.format(self.schema))

    def check_objects(self, connection: sa.Connection) -> None:
        """Refuses tables that are not as they were made, or that have something attached."""
        facts = self._facts(connection)
        wrong = [row.relname for row in facts if not _is_ours(row)]
        if wrong or len(facts) != len(_COLUMNS):
            name = wrong[0] if wrong else "deniable_entries"
            raise LedgerBroken(
                f"The table {name} of the ledger {self.name!r} is missing, or is not as it was "
                "made: something was added (a trigger, a rule, row security, a child table, a "
                "column) or taken away (a constraint, an index, the log of its changes). Its "
                "sums cannot be trusted. Nothing was spent. Undo that, or restore the ledger's "
                "latest copy."
            )

    def check_pages(self, connection: sa.Connection) -> None:
        return

    @contextmanager
    def hold(self, token: str, connect: Connect) -> Iterator[bool]:
        """An advisory lock, on a connection of its own."""
        number = _lock_number(token)
        with connect() as connection:
            got = connection.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar()
            try:
                yield bool(got)
            finally:
                try:
                    if got:
                        connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))
                except sa.exc.DBAPIError:  # the connection is lost, and the lock with it
                    connection.invalidate()

    def is_held(self, token: str, connect: Connect) -> bool:
        number = _lock_number(token)
        with connect() as connection:
            free = connection.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar()
            if free:
                connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))
            return not free

    def _facts(self, connection: sa.Connection) -> Any:
        return connection.execute(sa.text(_TABLE_FACTS), {"schema": self.schema}).all()


def _lock_number(token: str) -> int:
    """A number of PostgreSQL's advisory locks: 64 bits with a sign."""
    return int.from_bytes(bytes.fromhex(token)[:8], signed=True)


def _milliseconds(seconds: float) -> int:
    """A limit for PostgreSQL, which takes 0 for none."""
    return max(1, int(seconds * 1000))


def _is_ours(row: Any) -> bool:
    columns = _COLUMNS[row.relname]
    return bool(
        row.plain
        and row.column_list == columns
        and row.width == columns.count("|") + 1
        and set(row.key_list or ()) == _KEYS[row.relname]
        and row.indexed
    )
