"""The tables of a ledger in a database, and the statements that read and write them.

The anchor's table has two rows: 1 is the anchor, 2 is the latest checkpoint.
"""

import sqlalchemy as sa

_TABLES = sa.MetaData()
ENTRIES = sa.Table(
    "deniable_entries",
    _TABLES,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("ends", sa.Text, unique=True),
    sa.Column("recall", sa.Text, index=True),
)
ANCHOR = sa.Table(
    "deniable_anchor",
    _TABLES,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
)


_FIELDS = ("number", "hash", "state", "signature")
MOVE_ANCHOR = (
    ANCHOR.update()
    .where(ANCHOR.c.id == 1, ANCHOR.c.number == sa.bindparam("from"))
    .values({name: sa.bindparam(name) for name in _FIELDS})
)
REPLACE_CHECKPOINT = (
    ANCHOR.update()
    .where(ANCHOR.c.id == 2)
    .values({name: sa.bindparam(name) for name in _FIELDS})
)
READ_ANCHOR, READ_CHECKPOINT = (
    sa.select(*(ANCHOR.c[name] for name in _FIELDS)).where(ANCHOR.c.id == row) for row in (1, 2)
)
CHECKPOINT_NUMBER = sa.select(ANCHOR.c.number).where(ANCHOR.c.id == 2)
READ_LOCKED_ANCHOR = READ_ANCHOR.with_for_update()  # in SQLite the whole file is already locked
ENTRIES_BETWEEN = (
    sa.select(ENTRIES)
    .where(ENTRIES.c.number > sa.bindparam("after"), ENTRIES.c.number <= sa.bindparam("last"))
    .order_by(ENTRIES.c.number)
)
SOME_ENTRIES = ENTRIES_BETWEEN.limit(sa.bindparam("count"))
LAST_ENTRY = (
    sa.select(ENTRIES.c.number, ENTRIES.c.hash).order_by(ENTRIES.c.number.desc()).limit(1)
)
ENTRIES_BY = {
    name: sa.select(ENTRIES).where(ENTRIES.c[name] == sa.bindparam("value")).order_by("number")
    for name in ("number", "ends", "recall")
}
