"""An attacker who wants to know which report is whose, and has everything but the sealing key.

The attacker has the database, its log, its backups, and knows the true report of everybody in
all other batches, and so also who is in this one. Passes begin with PASS and reports with BODY,
so that both are found in raw bytes, wherever they are left. Each attack puts the people of a
batch in the order in which their passes appear, and its reports in some order that the evidence
gives, and joins them one by one.
"""

import itertools
import re
import secrets
import sqlite3
from pathlib import Path

import psycopg

from tools.postgresql import address

WAL_PAGE = 8192  # bytes
MARK = re.compile(rb"(?:PASS|BODY)[0-9a-f]{12}")


def collect(store, people, look):
    """People send one report each. The attacker looks before and after each batch and after
    every person (of very many: every tenth). The truth."""
    truth = {}
    for number in range(people):
        mark = secrets.token_hex(6).encode()
        truth[b"PASS" + mark] = b"BODY" + secrets.token_hex(6).encode()
        if store.accept(truth[b"PASS" + mark], spend=b"PASS" + mark):
            look()
            store.write_batches()
            look()
        if people <= 1_000 or number % 10 == 9:
            look()
    store.close_survey()
    look()
    return truth


class FirstSeen:
    """The order in which marks first appear in growing evidence."""

    def __init__(self):
        self.places, self._count = {}, itertools.count()

    def scan(self, data):
        for found in MARK.finditer(data):
            if found[0] not in self.places:
                self.places[found[0]] = next(self._count)


def sqlite_evidence(file, seen):
    """Looks at the file, and at what lies beside it: a journal or a write-ahead log."""

    def look():
        for path in (Path(f"{file}-wal"), Path(f"{file}-journal"), file):
            if path.exists():
                seen.scan(path.read_bytes())

    return look


def keep_whole_log(engine_settings):
    """Settings under which SQLite's write-ahead log holds everything that was ever written."""
    other = [setting for setting in engine_settings if "journal_mode" not in setting]
    return ("PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", *other)


def sqlite_orders(file):
    """Orders of the reports that the file itself shows: of keys, and of places in it."""
    data = file.read_bytes()
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT body FROM deniable_survey_report ORDER BY id").fetchall()
    connection.close()
    return {
        "key": {row[0]: place for place, row in enumerate(rows)},
        "place in the file": {found[0]: found.start() for found in MARK.finditer(data)},
    }


def postgresql_orders(where):
    """Orders that PostgreSQL shows: of transactions (xmin), of places (ctid), of keys."""
    schema = where.partition("#")[2]
    with psycopg.connect(where.partition("#")[0]) as connection:
        report = f'"{schema}".deniable_survey_report'

        def order(by):
            query = f"SELECT body FROM {report} ORDER BY {by}"
            return {row[0]: n for n, row in enumerate(connection.execute(query).fetchall())}

        return {
            "xmin and ctid": order("xmin::text::bigint, ctid"),
            "ctid": order("ctid"),
            "key": order("id"),
        }


def postgresql_spent(where):
    """The order of passes by the transactions that wrote them."""
    schema = where.partition("#")[2]
    with psycopg.connect(where.partition("#")[0]) as connection:
        query = f'SELECT hash FROM "{schema}".deniable_survey_spent ORDER BY xmin::text::bigint'
        return {row[0]: n for n, row in enumerate(connection.execute(query).fetchall())}


def postgresql_files(folder):
    """PostgreSQL's write-ahead log in its order, then its tables as they lie on the disk."""
    data = folder / "data"
    log = sorted((data / "pg_wal").glob("0*"))
    yield b"".join(_without_page_heads(file.read_bytes()) for file in log)
    with psycopg.connect(address(folder), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    for file in sorted((data / "base").glob("*/*")):
        yield file.read_bytes()


def _without_page_heads(segment):
    """The records of a log file: a head stands before each page, also within a record."""
    pages = (segment[i : i + WAL_PAGE] for i in range(0, len(segment), WAL_PAGE))
    return b"".join(page[24 if number else 40 :] for number, page in enumerate(pages))


def count_linked(truth, batches, arrivals, reports):
    """How many people the attacker links, if both orders are joined within each batch."""
    whose = {body: ticket for ticket, body in truth.items()}
    linked = 0
    for batch in batches:
        bodies = sorted(batch.bodies, key=lambda body: reports.get(body, -1))
        people = sorted((whose[body] for body in bodies), key=arrivals.__getitem__)
        linked += sum(
            truth[ticket] == body for ticket, body in zip(people, bodies, strict=True)
        )
    return linked
