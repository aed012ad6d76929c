"""Reads how a table of PostgreSQL is defined, and refuses one whose rows could fail.

A view, a row-level policy or a foreign table can raise an error for one row, or make one row
depend on others. So definitions are read when a table is opened. Views and policies may hold
what `dialect.view_definitions` lists, and no function, operator or cast of the owner's; foreign
tables are refused. Rows that are stored (in tables and materialized views) are the owner's.
"""

from typing import Any

from deniable.engines.dialect.view_definitions import describe_condition_risk, describe_risk
from deniable.errors import InvalidPolicy

_FIRST_OWN = 16384  # PostgreSQL's own objects have smaller numbers
_RELATION = """
SELECT c.relkind, c.oid::regclass::text, c.relrowsecurity,
       CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END
FROM pg_class AS c WHERE c.oid = %s
"""
_POLICIES = "SELECT oid, pg_get_expr(polqual, polrelid) FROM pg_policy WHERE polrelid = %s"
_RULES = "SELECT oid FROM pg_rewrite WHERE ev_class = %s AND ev_type = '1'"  # of SELECT
# Collations in which different texts are equal: of the columns that are read, or named.
_UNEQUAL = """
SELECT 1 FROM pg_collation WHERE NOT collisdeterministic AND oid IN
(SELECT attcollation FROM pg_attribute WHERE attrelid = ANY(%s) UNION ALL
 SELECT refobjid FROM pg_depend WHERE objid = %s AND refclassid = 'pg_collation'::regclass)
"""
_LIKE = "~~"  # how PostgreSQL writes it
_CHILDREN = "SELECT inhrelid FROM pg_inherits WHERE inhparent = %s"
_OWN_CODE = f"""
SELECT 1 FROM pg_depend WHERE objid = %s AND refobjid >= {_FIRST_OWN} AND refclassid IN
('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_cast'::regclass) LIMIT 1
"""
_READ = """
SELECT DISTINCT d.refobjid FROM pg_depend AS d JOIN pg_class AS c ON c.oid = d.refobjid
WHERE d.objid = %s AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> %s
"""
_LONG_AS_TEXT = f"""
SELECT a.attname FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = ANY(%s) AND (t.oid >= {_FIRST_OWN} AND t.typtype <> 'e' OR t.typname IN
('bytea', 'json', 'jsonb', 'xml', 'record') OR t.typcategory IN ('A', 'R', 'C'))
"""
# A superuser can add these to PostgreSQL's own, and our statements would call them.
_ADDED_TO_OWN = f"""
SELECT format('cast from %s to %s', castsource::regtype, casttarget::regtype) FROM pg_cast
WHERE oid >= {_FIRST_OWN} AND castsource < {_FIRST_OWN} AND casttarget < {_FIRST_OWN}
UNION ALL SELECT 'function ' || p.oid::regprocedure FROM pg_proc AS p
WHERE p.oid >= {_FIRST_OWN} AND p.pronamespace = 'pg_catalog'::regnamespace
UNION ALL SELECT 'operator ' || o.oid::regoperator FROM pg_operator AS o
WHERE o.oid >= {_FIRST_OWN} AND o.oprnamespace = 'pg_catalog'::regnamespace LIMIT 1
"""


def check_database(connection: Any) -> None:
    """Refuses a database in which PostgreSQL's own functions or casts have company."""
    added = connection.execute(_ADDED_TO_OWN).fetchone()
    if added is not None:
        raise InvalidPolicy(
            f"This database adds a {added[0]} to PostgreSQL's own, and questions could call "
            "it. Drop it, or move it out of the schema pg_catalog."
        )


def check_definition(connection: Any, oid: int) -> None:
    """Refuses a table, view or policy by which one row could fail or change other rows."""
    _Definitions(connection).check(oid)


class _Definitions:
    """The relations that a source reads, each of which may be read once."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._stored: set[int] = set()

    def check(self, oid: int) -> None:
        kind, name, secured, definition = self._connection.execute(_RELATION, [oid]).fetchone()
        if kind == "f":
            raise InvalidPolicy(
                f"{name} is a foreign table: a row that cannot be read there would make a "
                "question fail. Copy it into a table or a materialized view."
            )
        if kind == "v":
            self._check_view(oid, name, definition)
            return
        if oid in self._stored:
            raise InvalidPolicy(f"The rows of {name} are read more than once by a view.")
        self._stored.add(oid)
        if secured:
            self._check_policies(oid, name)
        for (child,) in self._connection.execute(_CHILDREN, [oid]).fetchall():
            self.check(child)

    def _check_view(self, oid: int, name: str, definition: str) -> None:
        ((rule,),) = self._connection.execute(_RULES, [oid]).fetchall()
        read = [source for (source,) in self._connection.execute(_READ, [rule, oid]).fetchall()]
        risk = describe_risk(definition, "postgres", self._long_as_text(read))
        risk = risk or self._describe_like(definition, read, rule)
        if risk is None and self._connection.execute(_OWN_CODE, [rule]).fetchone():
            risk = "a function, operator or cast that is not PostgreSQL's own"
        if risk is not None:
            raise InvalidPolicy(
                f"{name} is a view with {risk}. One row could make it fail, or change other "
                "rows. A view may choose columns and rows of a table by comparisons, CASE and "
                "COALESCE, and join such selections with UNION ALL. For anything else make a "
                "table or a materialized view, in which each row is about one privacy unit."
            )
        for source in read:
            self.check(source)

    def _check_policies(self, oid: int, name: str) -> None:
        for policy, condition in self._connection.execute(_POLICIES, [oid]).fetchall():
            own = self._connection.execute(_OWN_CODE, [policy]).fetchone()
            risk = "code that is not PostgreSQL's own" if own else None
            if condition is not None and risk is None:
                long = self._long_as_text([oid])
                risk = describe_condition_risk(condition, "postgres", long)
                risk = risk or self._describe_like(condition, [oid], policy)
            if risk is not None:
                raise InvalidPolicy(
                    f"A row-level policy of {name} has {risk}. One row could make it fail, or "
                    "change other rows. Use a condition of comparisons, or a role to which no "
                    "policy applies."
                )

    def _describe_like(self, sql: str, relations: list[int], oid: int) -> str | None:
        """LIKE beside a collation for which it fails, on the first row that it meets."""
        if _LIKE not in sql:
            return None
        row = self._connection.execute(_UNEQUAL, [relations, oid]).fetchone()
        return None if row is None else "LIKE beside a nondeterministic collation"

    def _long_as_text(self, relations: list[int]) -> list[str]:
        rows = self._connection.execute(_LONG_AS_TEXT, [relations]).fetchall()
        return [name for (name,) in rows]
