from contextlib import ExitStack

from starlette.testclient import TestClient

from deniable.app.server.accounts import shared_limits
from deniable.app.server.questions.opened_server import make_server
from deniable.app.server.questions.server_settings import ServerSettings
from deniable.app.server.request_log import RequestLog
from deniable.app.server.surveys.survey_desk import REPORTS_PER_HOUR, SurveyDesk
from tests.app.server.surveys.test_survey_console import SURVEY


def test_a_server_without_surveys_has_no_page_for_them(polling):
    nobody = polling.visitor("")
    assert nobody.get("/s/never-begun").status_code == 404
    assert nobody.get("/s/never-begun/coins.js").status_code == 404
    posted = nobody._send("POST", "/s/never-begun/report", content="{}")
    assert posted.status_code == 404


async def _answer(scope, receive, send):
    await send({"type": "http.response.start", "status": 200})


def test_no_moment_of_a_respondent_is_logged():
    import asyncio

    lines = []

    async def visit(path):
        async def send(message):
            return None

        scope = {"type": "http", "path": path, "method": "GET"}
        await RequestLog(_answer, write=lines.append)(scope, None, send)

    asyncio.run(visit("/s/doping/report"))
    assert lines == []
    asyncio.run(visit("/console"))
    assert len(lines) == 1


def test_an_open_link_is_limited_by_address_for_all_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_limits, "_now", lambda: 6e4)
    desk = SurveyDesk(tmp_path / "surveys")
    for name in ("one", "two"):
        desk.begin(desk.draft(SURVEY.format(name=name)), "open")
    desk.close()
    settings = ServerSettings(
        (), database=tmp_path / "server.sqlite", surveys=tmp_path / "surveys"
    )
    with ExitStack() as workers:
        clients = [
            workers.enter_context(TestClient(make_server(settings, https=False)))
            for _ in range(2)
        ]

        def send(number, name):
            headers = {"Sec-Fetch-Site": "same-origin"}
            sent = clients[number % 2].post(f"/s/{name}/report", content="{}", headers=headers)
            return sent.status_code

        tried = [send(number, "one") for number in range(REPORTS_PER_HOUR + 4)]
        assert tried == [400] * REPORTS_PER_HOUR + [429] * 4
        assert send(0, "two") == 400
