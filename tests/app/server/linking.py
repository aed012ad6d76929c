"""An attacker who wants to know which report is whose, and has everything but the sealing key.

The attacker has the database, its log, its backups and the server's log. These hold the
exchanges too: hashes of tokens, hashes of blinded messages, signatures. The attacker knows the
invitations, and whose pass is whose, which blind passes hide otherwise. And the attacker knows
the true report of everybody in all other batches, and so also who is in this one. Hashes begin
with four letters here, and each report holds a number of its own, so that all of them are found
in raw bytes, wherever they are left. Each attack puts the people of a batch in an order that
the evidence gives, and its reports in another such order, and joins them one by one.
"""

import asyncio
import hashlib
import itertools
import json
import logging
import re
import secrets
import sqlite3
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import psycopg

from deniable.app.server import serving
from deniable.surveys.collect import collection as collecting
from deniable.surveys.collect.collection import public_key, read_base64
from deniable.surveys.collect.passes.blind_signatures import BlindPass
from deniable.surveys.collect.store import report_store
from tests.app.server import surveying
from tools.postgresql import address

WAL_PAGE = 8192  # bytes
MARK = re.compile(rb'(?:PASS|TOKN|BLND)[\s\S]{28}|\["n","[0-9]{9}"\]')
BODY = re.compile(rb'\["n","[0-9]{9}"\]')
CRASH = b"a message that makes the server fail"
TEXT = """
id = "s"
title = "Test"
epsilon = 1
[[questions]]
id = "a"
kind = "yes-no"
text = "Have you?"
[[questions]]
id = "n"
kind = "number"
private = false
text = "A number that no other report has?"
low = 0
high = 999999999
"""


@dataclass(frozen=True)
class Person:
    """One person's traces: marks in the evidence, the signature, the number in the report."""

    token: bytes
    blinded: bytes
    signature: bytes
    spent: bytes
    body: bytes


def mark_hashes(monkeypatch):
    """Hashes that are found in raw bytes: four letters say of what they are."""

    def marked(data):
        letters = b"TOKN" if data.startswith(b"deniable invitation\0") else b"BLND"
        digest = letters + hashlib.sha256(data).digest()[:28]
        return SimpleNamespace(digest=lambda: digest, hexdigest=digest.hex)

    monkeypatch.setattr(report_store, "hashlib", SimpleNamespace(sha256=marked))
    monkeypatch.setattr(
        BlindPass,
        "hash",
        property(lambda self: b"PASS" + hashlib.sha256(self.number).digest()[:28]),
    )


@contextmanager
def logging_to(file):
    """The server's own log, in a file. As it was, at the end."""
    loggers = [logging.getLogger(name) for name in ("deniable.server", "uvicorn")]
    before = [list(logger.handlers) for logger in loggers]
    with file.open("w", encoding="utf-8") as opened, redirect_stderr(opened):
        serving.keep_log_private()
        yield file
    for logger, handlers in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers


async def post(application, path, body):
    """One request to the application, without a network: the status, and what it answered."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])
    answered = []

    async def receive():
        return next(messages, {"type": "http.disconnect"})

    async def send(message):
        answered.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
    }
    scope |= {"scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"root_path": "", "server": ("127.0.0.1", 80), "client": ("192.0.2.7", 5000)}
    scope |= {"headers": [(b"content-type", b"text/plain")]}
    await application(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in answered)
    return answered[0]["status"], json.loads(content)


def collect(collection, people, look):
    """People exchange an invitation and send a report each. The attacker looks after every
    person (of very many: every tenth). Everybody's traces."""
    application, key = surveying.application(collection), public_key(collection.manifest)
    receive = collection.receive

    def fail_sometimes(body):
        if CRASH in body:
            raise RuntimeError(f"never to be logged: {body!r}")
        return receive(body)

    collection.receive = fail_sometimes
    numbers = set()
    while len(numbers) < people:
        numbers.add(secrets.randbelow(10**9))

    async def take(token, number):
        waiting = key.blind()
        request = surveying.exchange_body(token, waiting).encode()
        status, content = await post(application, "/s/s/exchange", request)
        assert status == 200, content
        signature = read_base64(content["signature"])
        ticket = key.finish(waiting, signature)
        report = collection.manifest.write_report({"a": number % 2, "n": number})
        sent = {"report": report.decode(), "pass": surveying.pass_of(ticket)}
        answer = await post(application, "/s/s/report", json.dumps(sent).encode())
        assert answer == (200, {"status": "received"})
        if number % 50 == 0:
            failed = await post(application, "/s/s/report", CRASH + json.dumps(sent).encode())
            assert failed[0] == 500
        body = BODY.search(report)[0]
        blinded = report_store.hashlib.sha256(waiting.blinded).digest()
        hashed = collecting.hash_token(bytes.fromhex(token))
        return Person(hashed, blinded, signature, ticket.hash, body)

    async def everybody():
        results = []
        for place, (token, number) in enumerate(
            zip(collection.invite(people), numbers, strict=True)
        ):
            results.append(await take(token, number))
            if people <= 1_000 or place % 10 == 9:
                look()
        return results

    results = asyncio.run(everybody())
    collection.store.close_survey()
    look()
    return results


class FirstSeen:
    """The order in which marks first appear in growing evidence."""

    def __init__(self):
        self.places, self._count = {}, itertools.count()

    def scan(self, data):
        for match in MARK.finditer(data):
            if match[0] not in self.places:
                self.places[match[0]] = next(self._count)


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


def _places(rows):
    """The order of rows, by the mark that they hold."""
    return {MARK.search(row[0])[0]: place for place, row in enumerate(rows)}


def sqlite_orders(file):
    """Orders that the file itself shows: of keys, and of places in it."""
    data = file.read_bytes()
    connection = sqlite3.connect(file)
    rows = connection.execute("SELECT body FROM deniable_survey_report ORDER BY id").fetchall()
    connection.close()
    places = {match[0]: match.start() for match in MARK.finditer(data)}
    return {"key": _places(rows), "place in the file": places}


def postgresql_orders(where):
    """Orders that PostgreSQL shows: of transactions (xmin), of places (ctid), of keys."""
    schema = where.partition("#")[2]
    tables = {"report": "body", "spent": "hash", "invitation": "blinded_hash"}
    with psycopg.connect(where.partition("#")[0]) as connection:

        def order(by):
            orders = {}
            for table, column in tables.items():
                key = {"id": {"report": "id"}.get(table, column)}.get(by, by)
                query = (
                    f'SELECT {column} FROM "{schema}".deniable_survey_{table} ORDER BY {key}'
                )
                orders |= _places(connection.execute(query).fetchall())
            return orders

        return {
            "xmin and ctid": order("xmin::text::bigint, ctid"),
            "ctid": order("ctid"),
            "key": order("id"),
        }


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


def attack(people, batches, orders):
    """How many people each attack links: an order of people joined with one of reports."""
    whose = {person.body: person for person in people}
    known = [sorted(BODY.search(body)[0] for body in batch.bodies) for batch in batches]
    arrivals = {
        f"{trace}, {name}": {p.body: order[getattr(p, trace)] for p in people}
        for name, order in orders.items()
        for trace in ("spent", "blinded")
        if all(getattr(p, trace) in order for p in people)
    }
    for trace in ("token", "blinded", "signature", "spent"):  # by their own values
        values = sorted(getattr(p, trace) for p in people)
        rank = {value: place for place, value in enumerate(values)}
        arrivals[f"value of {trace}"] = {p.body: rank[getattr(p, trace)] for p in people}
    linked = {}
    for (by, arrival), (name, reports) in itertools.product(arrivals.items(), orders.items()):
        linked[by, name] = 0
        for bodies in known:
            listed = sorted(bodies, key=lambda body: reports.get(body, -1))
            persons = sorted((whose[body] for body in bodies), key=lambda p: arrival[p.body])
            pairs = zip(persons, listed, strict=True)
            linked[by, name] += sum(person.body == body for person, body in pairs)
    return linked
