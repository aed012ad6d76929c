"""A console to look at: a real server on a port of this machine, with a made-up hospital.

Tests and `make screens` use it. It answers without slots, so that nobody waits for it.
"""

import csv
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.passwords import Passwords
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions.opened_server import make_server
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.server_settings import ServerSettings

PASSWORD = "correct horse battery"
PEOPLE = {
    "olga": "owner",
    "ann": "analyst",
    "ben": "analyst",
    "audrey": "auditor",
    "paul": "pollster",
    "otto": "operator",
}
WARDS = ("cardiology", "maternity", "oncology", "surgery")
POLICY = """
[budget]
epsilon = {epsilon}
delta = 1e-6

[analysts."*"]
epsilon = {each}
delta = 1e-7

[tables.visits]
source = "visits.csv"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_unit_per_group = 3
expected_rows = 2000
[tables.visits.columns]
cost = {{ bounds = [0, 5000], step = 1 }}
age = {{ bounds = [0, 110], step = 1 }}
ward = {{ keys = [{wards}] }}
{more}
"""


@dataclass(frozen=True, slots=True)
class ConsoleServer:
    """Where a console is served."""

    url: str
    policy: Path
    database: Path

    @property
    def home(self) -> str:
        """The console's pages about the hospital."""
        return f"{self.url}/console/hospital"


def write_small_hospital(
    folder: Path,
    *,
    epsilon: str = "4",
    each: str = "1",
    wards: tuple[str, ...] = WARDS,
    rows: int = 2000,
    columns: tuple[str, ...] = (),
    more: str = "",
) -> Path:
    """The policy of a small hospital with made-up visits, in a folder of its own."""
    place = folder / "hospital"
    place.mkdir(parents=True)
    with (place / "visits.csv").open("w", newline="") as file:
        rows_of = csv.writer(file)
        rows_of.writerow(["patient", "ward", "cost", "age", *columns])
        for number in range(rows):
            ward = wards[number % len(wards)]
            facts = [number % 900, ward, number * 37 % 5000, number % 90]
            rows_of.writerow([*facts, *(ward for _ in columns)])
    keys = ", ".join(map(json.dumps, wards))
    more += "".join(f"{json.dumps(name)} = {{ kind = 'text' }}\n" for name in columns)
    text = POLICY.format(epsilon=epsilon, each=each, wards=keys, more=more)
    (place / "deniable.toml").write_text(text)
    return place / "deniable.toml"


@contextmanager
def serve_console(policy: Path, **changes: object) -> Iterator[ConsoleServer]:
    """Serves the policy's console, with a person for each role and one password for all."""
    folder = policy.parent.parent
    database = folder / "server.sqlite"
    usual = {"padded": False, "database": database, "limits": QueueLimits(places=1)}
    usual |= {"surveys": folder / "surveys"}
    settings = ServerSettings((policy,), **(usual | changes))  # type: ignore[arg-type]
    application = make_server(settings, https=False)
    add_people(database)
    with _running(application) as url:
        yield ConsoleServer(url, policy, database)


def add_people(database: Path) -> None:
    """A person for each role, as far as they are missing."""
    store = ServerDatabase(database)
    people = Identities(store).people
    known = {account.name for account in people.listed()}
    kept = Passwords(memory=64).hash(PASSWORD)
    for name, role in PEOPLE.items():
        if name not in known:
            people.add(name, role=role, password_hash=kept)
    store.close()


@contextmanager
def _running(application: FastAPI) -> Iterator[str]:
    bound = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, log_config=None, access_log=False, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        bound.close()
