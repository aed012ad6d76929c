"""`deniable serve --demo`: a server to look at, with a made-up hospital and an example survey.

It listens on this machine only. Everything lies in a folder that goes when the command ends.
"""

import json
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from deniable.app.cli.commands.survey import DRAFT
from deniable.app.cli.story.hospital_questions import BUDGET, VISITS

if TYPE_CHECKING:
    from deniable.app.server.questions.server_settings import ServerSettings

PEOPLE = {"olga": "owner", "ann": "analyst", "audrey": "auditor"}
RESPONDENTS = 200
SURVEY = "example"
_POLICY = """
[budget]
epsilon = {budget}
delta = 1e-6

[analysts."*"]
epsilon = 1
delta = 3e-7

[tables.visits]
source = "hospital.duckdb#visits"
unit = "patient"
max_groups_per_unit = 5
max_rows_per_unit_per_group = 8
expected_rows = {visits}
[tables.visits.columns]
cost = {{ bounds = [0, 3000], step = 0.01 }}
age = {{ bounds = [0, 110], step = 1 }}
ward = {{ keys = {wards} }}
diagnosis = {{ keys = "private" }}
"""


@dataclass(frozen=True, slots=True)
class DemoServer:
    """What the demonstration serves, and the passwords of its people."""

    settings: "ServerSettings"
    passwords: dict[str, str]

    def describe(self, url: str) -> str:
        """What is printed when it is ready."""
        people = "\n".join(
            f"  {name:<8}{PEOPLE[name]:<10}{password}"
            for name, password in self.passwords.items()
        )
        return (
            f"The console:       {url}\n{people}\n"
            f"A survey to take:  {url}/s/{SURVEY}\n"
            "All of it is made up. It is removed when this command ends (Ctrl+C)."
        )


def serve_demo(port: int) -> None:
    """Serves the demonstration until the process is told to end."""
    from deniable.app.server.questions.opened_server import make_server
    from deniable.app.server.serving import ServerPlace
    from deniable.app.server.serving import serve as serve_application

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # so that the folder is removed
    with make_demo(port=port) as demo:
        application = make_server(demo.settings, https=False)
        place = ServerPlace(port=port)
        serve_application(
            application, place, ready=lambda url: print(demo.describe(url), flush=True)
        )


@contextmanager
def make_demo(visits: int = VISITS, *, port: int = 0) -> Iterator[DemoServer]:
    """The demonstration in a new folder, which is removed afterwards. Invitations need to know
    the port."""
    from deniable.app.server.questions.server_settings import ServerSettings

    with TemporaryDirectory(prefix="deniable-demo-") as name:
        folder = Path(name)
        settings = ServerSettings(
            (_write_hospital(folder / "hospital", visits),),
            folder / "server.sqlite",
            slot=2.0,
            origin=f"http://127.0.0.1:{port}" if port else "",
            surveys=folder / "surveys",
        )
        _begin_survey(folder / "surveys")
        yield DemoServer(settings, _add_people(settings.database))


def _write_hospital(folder: Path, visits: int) -> Path:
    from deniable.engines.duckdb.example_hospital import WARDS, write_hospital

    folder.mkdir()
    write_hospital(str(folder / "hospital.duckdb"), visits)
    file = folder / "deniable.toml"
    wards = json.dumps(WARDS)
    file.write_text(_POLICY.format(budget=BUDGET, visits=visits, wards=wards).lstrip())
    return file


def _add_people(database: Path) -> dict[str, str]:
    from deniable.app.server.accounts.passwords import Passwords
    from deniable.app.server.accounts.people import People
    from deniable.app.server.accounts.server_database import ServerDatabase

    store, passwords = ServerDatabase(database), {}
    people, hasher = People(store), Passwords()
    for name, role in PEOPLE.items():
        passwords[name] = secrets.token_urlsafe(12)
        people.add(name, role=role, password_hash=hasher.hash(passwords[name]))
    store.close()
    return passwords


def _begin_survey(folder: Path) -> None:
    """An example survey that made-up people have answered."""
    from deniable.app.server.surveys.survey_desk import SurveyDesk
    from deniable.surveys import loads, simulate

    text = DRAFT.replace('"my-survey"', f'"{SURVEY}"').replace(
        '"A shameful question"', '"A shameful question (an example)"'
    )
    desk = SurveyDesk(folder)
    desk.begin(desk.draft(text), "open")
    collection = desk.collection(SURVEY)
    for line in simulate(loads(text), RESPONDENTS).collected.lines():
        report = collection.manifest.write_report(json.loads(line)).decode("ascii")
        message = {"report": report, "number": secrets.token_hex(16)}
        if collection.receive(json.dumps(message).encode()):
            collection.store.write_batches()
    desk.close()
