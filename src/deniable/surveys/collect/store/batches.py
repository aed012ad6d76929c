"""Batches: reports that are written together, and those that wait for theirs.

Rows get random keys and are written in the order of these keys, so neither a key nor a place in
the table says when a report came.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from deniable.exact.bits import SYSTEM
from deniable.surveys.collect.store import collection_tables as tables
from deniable.surveys.collect.store.sealing_keys import SealingKey


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """Reports that were written together, in random order."""

    number: int
    day: datetime.date
    bodies: tuple[bytes, ...]


def read_batches(connection: sa.Connection) -> list[ReportBatch]:
    """All batches in their order; the reports of each in random order."""
    days = connection.execute(tables.READ_BATCHES).all()
    bodies: dict[int, list[bytes]] = {row.number: [] for row in days}
    for row in connection.execute(tables.READ_REPORTS):
        bodies[row.batch].append(row.body)
    return [
        ReportBatch(row.number, datetime.date.fromisoformat(row.day), (*bodies[row.number],))
        for row in days
    ]


def insert_batch(connection: sa.Connection, bodies: Sequence[bytes]) -> None:
    """Writes reports in one statement, in the order of random keys."""
    if not bodies:
        return
    number = (connection.execute(tables.LAST_BATCH).scalar() or 0) + 1
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    day = max(today, connection.execute(tables.LAST_DAY).scalar() or today)  # never goes back
    connection.execute(tables.BATCH.insert(), {"number": number, "day": day})
    placed = sorted((_draw_id(), body) for body in bodies)
    rows = [{"id": place, "batch": number, "body": body} for place, body in placed]
    connection.execute(tables.REPORT.insert(), rows)


def insert_waiting(connection: sa.Connection, bodies: Sequence[bytes], key: SealingKey) -> None:
    """Seals reports that wait for a later batch, each under a random key."""
    for body in bodies:
        row = {"id": _draw_id(), "sealed": key.seal(body)}
        connection.execute(tables.WAITING.insert(), row)


def shuffle(bodies: Sequence[bytes]) -> list[bytes]:
    """A uniformly random order: that of random numbers, too long to be equal."""
    return [body for _, body in sorted((_draw_id(), body) for body in bodies)]


def _draw_id() -> bytes:
    return SYSTEM.draw(64, 2).tobytes()
