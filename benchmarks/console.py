"""The console's live preview over HTTP, against `explain` in the same process.

Both plan the same question. The preview also looks what is left and whether the answer is kept,
and writes HTML. What is compared is what a person waits for at worst: the 95th per cent of 60
times, in turns. Processor time is that of the whole process, so server and client are in it: it
hardly changes when the machine is busy.
"""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlencode

import deniable as dp
from benchmarks.stopwatch import Row
from tools.console_server import PASSWORD, ConsoleServer, serve_console, write_small_hospital

TIMES = 60
CLOCKS = {"ms, p95": time.perf_counter, "ms of processor, p95": time.process_time}
QUESTIONS = {
    "a count, by epsilon": ("SELECT COUNT(*) AS n FROM visits", {"epsilon": "0.1"}),
    "counts by ward, by margin": (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        {"margin": "50"},
    ),
    "three aggregates by ward, by epsilon": (
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS c, SUM(age) AS s FROM visits GROUP BY ward",
        {"epsilon": "0.1"},
    ),
}


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        file = write_small_hospital(Path(place))
        with serve_console(file) as server, dp.open(str(file), analyst="ben") as session:
            send = _log_in(server)
            for what, (sql, price) in QUESTIONS.items():
                fields = {"sql": sql, "by": next(iter(price)), **price}
                told = {name: Fraction(value) for name, value in price.items()}
                contestants = (
                    lambda fields=fields: send(fields),
                    lambda sql=sql, told=told: session.explain(sql, **told),
                )
                for unit, clock in CLOCKS.items():
                    ours, theirs = _p95(clock, *contestants)
                    yield Row(what, unit, ours, theirs, "explain in process", ours / theirs)


def _p95(clock: Callable[[], float], *contestants: Callable[[], object]) -> list[float]:
    """The 95th per cent of each contestant's times, in milliseconds; they take turns."""
    times: list[list[float]] = [[] for _ in contestants]
    for _ in range(TIMES):
        for run, own in zip(contestants, times, strict=True):
            start = clock()
            run()
            own.append(1000 * (clock() - start))
    return [sorted(own)[int(0.95 * TIMES)] for own in times]


def _log_in(server: ConsoleServer) -> Callable[[dict[str, str]], None]:
    """Sends the fields of a preview, as a page of a person who is logged in."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    ours = {
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/x-www-form-urlencoded",
    }

    def post(path: str, fields: dict[str, str]) -> tuple[http.client.HTTPResponse, str]:
        connection.request("POST", path, urlencode(fields), ours)
        answer = connection.getresponse()
        return answer, answer.read().decode()

    answer, _ = post("/console/login", {"name": "ann", "password": PASSWORD})
    ours["Cookie"] = str(answer.headers["Set-Cookie"]).partition(";")[0]
    connection.request("GET", "/console", headers=ours)
    page = connection.getresponse().read().decode()
    token = page.partition('name="form_token" value="')[2].partition('"')[0]

    def send(fields: dict[str, str]) -> None:
        _, text = post("/console/hospital/preview", fields | {"form_token": token})
        if "Before you ask" not in text:
            raise AssertionError(text)

    return send
