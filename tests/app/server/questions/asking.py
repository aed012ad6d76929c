"""A small hospital behind a server, and people who ask it."""

import json
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions.opened_server import make_server
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.server_settings import ServerSettings

COUNT = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "1/2"}
ROWS = 2000
HOUR = 3600.0
POLICY = """
[budget]
epsilon = {epsilon}
delta = 1e-6
{ledger}
[tables.visits]
source = "visits.csv"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_unit_per_group = 3
[tables.visits.columns]
cost = {{ bounds = [0, 5000], step = 1 }}
ward = {{ keys = ["A", "B"] }}
age = {{ kind = "integer" }}
[tables.staff]
source = "staff.csv"
{more}
"""


def write_hospital(
    folder: Path, *, epsilon=10, ledger="", more="", rows=ROWS, name="hospital"
) -> Path:
    """The policy's file, in a folder of its own by its name."""
    place = folder / name
    place.mkdir()
    lines = "".join(f"{i},{'AB'[i % 2]},{i % 5000},{i % 90}\n" for i in range(rows))
    (place / "visits.csv").write_text("patient,ward,cost,age\n" + lines)
    (place / "staff.csv").write_text("name\n" + "".join(f"n{i}\n" for i in range(50)))
    file = place / "deniable.toml"
    file.write_text(POLICY.format(epsilon=epsilon, ledger=ledger, more=more))
    return file


def people_of(folder: Path) -> Identities:
    return Identities(ServerDatabase(folder / "server.sqlite"))


@contextmanager
def serving(*files: Path, **changes):
    """A client of a server in this process, without slots unless they are asked for."""
    folder = files[0].parent.parent
    limits = QueueLimits(**changes.pop("limits", {"places": 1}))
    usual = {"padded": False, "database": folder / "server.sqlite", "limits": limits}
    usual |= {"requests_each": 10**9}  # tests ask again at once
    settings = ServerSettings(files, **(usual | changes))
    application = make_server(settings, https=False)
    with TestClient(application, raise_server_exceptions=False) as client:
        yield client


class Asker:
    """One person who asks over HTTP."""

    def __init__(self, client, token, policy="hospital"):
        self.client, self.policy = client, policy
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path):
        return self.client.get(f"/v1/{self.policy}/{path}", headers=self.headers)

    def post(self, path, told):
        body = told if isinstance(told, bytes) else json.dumps(told)
        return self.client.post(f"/v1/{self.policy}/{path}", content=body, headers=self.headers)

    def ask(self, told=None, **changes):
        return self.post("releases", {**(told or COUNT), **changes})

    def answer(self, told=None, form="", **changes):
        """The response that ends a question, whatever it is."""
        taken = self.ask(told, **changes)
        if taken.status_code != 202:
            return taken
        return self.wait(taken.json()["id"] + form)

    def wait(self, name):
        while (response := self.get(f"releases/{name}")).status_code == 202:
            pass
        return response
