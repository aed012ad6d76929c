"""Requests that want to hurt: large bodies, other hosts, and looking for what is not theirs."""

import resource
import socket
import threading
import time
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.server.children.pooled_engine import TimedEngine
from deniable.app.server.questions.answer_formats import to_csv
from deniable.errors import EngineFailed
from deniable.release.answer.answer_table import Answer
from tests.app.server.questions.asking import (
    COUNT,
    Asker,
    people_of,
    serving,
    write_hospital,
)
from tests.app.server.questions.commands import caller, children_of, serve

SECURE = ("content-security-policy", "x-content-type-options", "x-frame-options")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return write_hospital(tmp_path_factory.mktemp("hostile"), epsilon=1000)


@pytest.fixture(scope="module")
def client(place):
    with serving(place) as client:
        yield client


@pytest.fixture(scope="module")
def token(place):
    return people_of(place.parent.parent).new_token("ann")


def test_every_response_has_the_headers(client, token):
    ann = Asker(client, token)
    answers = [
        ann.get("tables"),
        ann.get("nothing"),
        ann.post("explain", b"{"),
        ann.post("releases", b"x" * 70_000),
        client.get("/v1/hospital/tables"),
        client.get("/problems/not-found"),
        client.put("/v1/hospital/tables"),
        client.get("/"),
        ann.answer(),
    ]
    assert {answer.status_code for answer in answers} >= {200, 400, 401, 404, 405, 413}
    for answer in answers:
        assert all(header in answer.headers for header in SECURE)
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/docs", "/redoc", "/openapi.json", "/metrics", "/.git", "/v1"]
)
def test_nothing_else_is_served(client, path):
    assert client.get(path).status_code == 404


UP = ("../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c", "..\\", "....//", "..%252f", "..%c0%af")
PLACES = ("", "/", "%2f", "file://", "x/", "%00")
TRAVERSALS = [f"{first}{up * depth}" for first in PLACES for up in UP for depth in (1, 3)]


@pytest.mark.parametrize(
    "route",
    ["/console-files/", "/s/", "/s/x/", "/public/", "/problems/", "/v1/hospital/releases/"],
)
def test_no_name_in_an_address_leads_to_a_file(client, place, token, route):
    """Over a hundred spellings of the way to a file of the owner."""
    secret = place.parent / "deniable.ledger.key.pub"
    canary = secret.read_text().strip()
    assert len(TRAVERSALS) > 100
    for way in (*TRAVERSALS, str(place.parent), f"file://{place.parent}/"):
        for name in (f"hospital/{secret.name}", secret.name, f"{secret.name}%00.css"):
            headers = {"Authorization": f"Bearer {token}"}
            answer = client.get(f"{route}{way}{name}", headers=headers)
            assert answer.status_code in (400, 404, 406), (way, name)
            assert canary not in answer.text


def test_no_link_follows_a_forged_host(client, token):
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    headers = {"Authorization": f"Bearer {token}"} | forged
    taken = client.post("/v1/hospital/releases", json=COUNT, headers=headers)
    assert taken.status_code == 202
    assert taken.headers["location"].startswith("/v1/hospital/releases/")
    assert "evil" not in taken.text + str(taken.headers)


def test_a_token_leaves_no_trace(client, place, caplog):
    canary = people_of(place.parent.parent).new_token("canary")
    asker = Asker(client, canary)
    said = [asker.answer().text, asker.ask(epsilon=-1).text, asker.get("x").text]
    client.get(f"/v1/hospital/tables?token={canary}")
    assert canary not in "".join(said) + caplog.text
    for file in place.parent.parent.rglob("*"):
        if file.is_file():
            assert canary.encode() not in file.read_bytes(), file


MEASURES = ("COUNT(*)", "SUM(cost)", "AVG(cost)", "MEDIAN(cost)", "MAX(cost)")
FILTERS = ("", "WHERE ward = 'A'", "WHERE cost > 100", "WHERE cost BETWEEN 1 AND 7")
GROUPS = ("", "GROUP BY ward")
TEMPLATES = [
    f"SELECT {'ward, ' * bool(group)}{measure} AS x FROM visits {condition} {group}"
    for measure in MEASURES
    for condition in FILTERS
    for group in GROUPS
]
FAILURES = [  # at the place where an engine runs, as a row could cause them
    *(ValueError("41 patients in ward A"), MemoryError("x" * 9999), KeyError("Ann")),
    *(EngineFailed("00000000"), pa.ArrowInvalid("Invalid: 4999 out of bounds")),
]


def test_a_failure_says_nothing_but_a_reference(client, token, monkeypatch, size):
    """Whatever was asked and whatever went wrong, every byte and every header is the same."""
    ann, bodies = Asker(client, token), set()
    cases = [(text, failure) for text in TEMPLATES for failure in FAILURES]
    tried = size(small=10, full=200, what="templates with failures of an engine")
    step = 1 if tried == len(cases) else 21  # each time another template and another failure
    for text, failure in cases[::step]:

        def fail(self, written, failure=failure):
            raise failure

        monkeypatch.setattr(TimedEngine, "run", fail)
        failed = ann.answer({"sql": text, "epsilon": "1/100"}, fresh=True)
        assert failed.status_code == 502, (text, failed.text)
        headers = sorted((k, v) for k, v in failed.headers.items() if k != "date")
        reference = failed.json()["detail"].partition("reference ")[2][:8]
        bodies.add((failed.content.replace(reference.encode(), b""), *headers))
    assert len(bodies) == 1


def test_a_spreadsheet_runs_no_formula():
    hostile = ["=1+1", "+1", "-1+1", "@SUM(1)", "\tx", "\rx", 'a"b,c', "plain"]
    table = pa.table({"=key": hostile, "n": [-5] * len(hostile)})
    lines = to_csv(Answer(table, {}), None).decode().split("\r\n")
    assert lines[0] == "'=key,n"
    assert lines[1:4] == ["'=1+1,-5", "'+1,-5", "'-1+1,-5"]
    assert lines[7] == '"a""b,c",-5'
    assert lines[8] == "plain,-5"


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "endless"])
def test_a_large_body_is_refused_and_not_kept(place, tmp_path, size, chunked):
    length = size(small=32, full=200, what="megabytes of a body") << 20
    file = write_hospital(tmp_path)
    token = people_of(tmp_path).new_token("ann")
    with serve(file, "--workers", "2", "--places", "1") as (url, process):
        workers = children_of(process.pid)
        port = int(url.split(":")[2].partition("/")[0])
        for _ in range(20):  # what a worker loads for its first requests does not count
            with suppress(ConnectionResetError):
                send_body(port, token, 1 << 17, chunked=chunked)
        before = sum(map(peak_memory, workers))
        answer = b""
        while not answer:  # a connection that is reset may lose what was answered
            with suppress(ConnectionResetError):
                answer = send_body(port, token, length, chunked=chunked)
        assert b" 413 " in answer
        assert sum(map(peak_memory, workers)) - before < 16 << 20


def peak_memory(pid):
    """The most memory that a process has had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) << 10


def send_body(port, token, length, *, chunked):
    """The first bytes of the answer to a body of that length."""
    how = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {length}"
    lines = ["POST /v1/hospital/releases HTTP/1.1", "Host: x", f"Authorization: Bearer {token}"]
    head = "\r\n".join([*lines, how, "", ""])
    block = b"x" * (1 << 16)
    part = b"10000\r\n" + block + b"\r\n" if chunked else block
    with socket.create_connection(("127.0.0.1", port)) as connection:
        with suppress(OSError):  # the server has said what it thinks, and closed
            connection.sendall(head.encode())
            for _ in range(length >> 16):
                connection.sendall(part)
        return connection.recv(4096)


SLOW_HEAD = b"POST /v1/hospital/releases HTTP/1.1\r\nHost: x\r\nX-Slow: "


class Attack:
    """Sockets that send a byte now and then, and people who ask for heavy plans, while it is
    on."""

    def __init__(self, url, file, sockets, askers, cases):
        self.port = int(url.split(":")[2].partition("/")[0])
        self.calls = [caller(url, file, f"mallory{i % 2}") for i in range(askers)]
        self.sockets, self.over, self.planned = sockets, threading.Event(), 0
        whens = " ".join(f"WHEN cost = {i} THEN {i}" for i in range(cases))
        self.sql = f"SELECT SUM(CASE {whens} ELSE 0 END) AS s FROM visits"

    def __enter__(self):
        self.over.clear()
        works = [self._send_slowly, *(partial(self._ask, calls) for calls in self.calls)]
        self.threads = [threading.Thread(target=work) for work in works]
        self.ready = threading.Semaphore(0)
        for thread in self.threads:
            thread.start()
        self.ready.acquire()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _send_slowly(self):
        with ExitStack() as opened:
            held = [
                opened.enter_context(socket.create_connection(("127.0.0.1", self.port)))
                for _ in range(self.sockets)
            ]
            for connection in held:
                connection.sendall(SLOW_HEAD)
            self.ready.release()
            while not self.over.wait(1):
                for connection in held:
                    with suppress(OSError):  # it was closed for being slow
                        connection.sendall(b"x")

    def _ask(self, calls):
        while not self.over.is_set():
            with suppress(dp.DeniableError):
                calls.post("explain", {"sql": self.sql, "epsilon": 1})
                self.planned += 1


def test_slow_sockets_and_hostile_plans_do_not_hold_up_others(tmp_path, size):
    """The 99th percentile of others, in turns with and without the attack."""
    sockets = size(small=40, full=1000, what="slow sockets")
    askers = size(small=2, full=10, what="askers of heavy plans")
    cases = size(small=50, full=1000, what="cases in each of their plans")
    requests = size(small=5, full=50, what="requests of others in each of six turns")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    file, times = write_hospital(tmp_path), {False: [], True: []}
    with serve(file, "--workers", "2", "--places", "1") as (url, _):
        bob, attack = caller(url, file, "bob"), Attack(url, file, sockets, askers, cases)
        for turn in range(6 if requests > 5 else 2):
            with attack if turn % 2 else nullcontext():
                for _ in range(requests):
                    begun = time.perf_counter()
                    assert bob.get("budget")["epsilon"] == "10"
                    bob.post("explain", COUNT)
                    times[bool(turn % 2)].append(time.perf_counter() - begun)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    before, under = (float(np.quantile(times[hostile], 0.99)) for hostile in (False, True))
    print(f"p99 of others: {before:.3f} s, under attack {under:.3f} s; {attack.planned} plans")
    if requests > 5:
        assert under <= 2 * before
