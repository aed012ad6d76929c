"""The tables of a collection. No column holds a time, and no key follows the order of arrival.

Every table of SQLite is made WITHOUT ROWID, because a row's number tells when it was written.
PostgreSQL keeps the number of the writing transaction with each row (`xmin`). So a row that
stands for a person (`spent`) can be joined to the row that was written with it (`waiting`),
which is therefore sealed. Rows of `report` are written fifty or more at a time.
"""

import sqlalchemy as sa

METADATA = sa.MetaData()


def _table(name: str, *columns: sa.Column[object]) -> sa.Table:
    return sa.Table(f"deniable_survey_{name}", METADATA, *columns, sqlite_with_rowid=False)


SURVEY = _table(
    "state",
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("manifest_hash", sa.Text, nullable=False),
    sa.Column("closed", sa.Integer, nullable=False),  # 0 or 1
    sa.Column("sealing_key", sa.Text, nullable=False),  # its name; the key is in a file
)
INVITATION = _table(
    "invitation",
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("blinded_hash", sa.LargeBinary),
    sa.Column("signature", sa.LargeBinary),
)
SPENT = _table("spent", sa.Column("hash", sa.LargeBinary, primary_key=True))
WAITING = _table(
    "waiting",
    sa.Column("id", sa.LargeBinary, primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
)
BATCH = _table(
    "batch",
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("day", sa.Text, nullable=False),
)
REPORT = _table(
    "report",
    sa.Column("id", sa.LargeBinary, primary_key=True),
    sa.Column("batch", sa.Integer, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

READ_STATE = sa.select(SURVEY).where(SURVEY.c.id == 1)
LOCK_STATE = READ_STATE.with_for_update()  # in SQLite the whole file is locked already
COUNT_WAITING = sa.select(sa.func.count()).select_from(WAITING)
READ_WAITING = sa.select(WAITING.c.sealed)
LAST_BATCH = sa.select(sa.func.max(BATCH.c.number))
LAST_DAY = sa.select(sa.func.max(BATCH.c.day))
READ_BATCHES = sa.select(BATCH).order_by(BATCH.c.number)
READ_REPORTS = sa.select(REPORT.c.batch, REPORT.c.body).order_by(REPORT.c.id)
FIND_SPENT = sa.select(SPENT.c.hash).where(SPENT.c.hash == sa.bindparam("hash"))
READ_SPENT = sa.select(SPENT.c.hash).order_by(SPENT.c.hash)
READ_INVITATION = sa.select(INVITATION).where(
    INVITATION.c.token_hash == sa.bindparam("token_hash")
)
COUNT_INVITED = sa.select(sa.func.count()).select_from(INVITATION)
COUNT_EXCHANGED = COUNT_INVITED.where(INVITATION.c.signature.is_not(None))
