"""A server with accounts and a folder of surveys, in this process."""

import pytest
from starlette.testclient import TestClient

from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.questions.opened_server import make_server
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.server_settings import ServerSettings
from tests.app.server.console.conftest import Hospital
from tools.console_server import add_people, write_small_hospital

ORIGIN = "https://localhost"


@pytest.fixture(scope="module")
def polling(tmp_path_factory):
    folder = tmp_path_factory.mktemp("polling")
    file = write_small_hospital(folder, rows=50)
    database = folder / "server.sqlite"
    settings = ServerSettings(
        (file,),
        database=database,
        padded=False,
        limits=QueueLimits(places=1),
        origin=ORIGIN,
        surveys=folder / "surveys",
    )
    application = make_server(settings, https=False)
    add_people(database)
    with TestClient(application, base_url=ORIGIN) as client:
        hospital = Hospital(file, client, Identities(ServerDatabase(database)))
        hospital.surveys = folder / "surveys"
        yield hospital
