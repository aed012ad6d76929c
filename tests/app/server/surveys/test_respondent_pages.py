from deniable.app.server.request_log import RequestLog


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
