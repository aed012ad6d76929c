"""Requests that want to hurt: large bodies, other hosts, and looking for what is not theirs."""

import socket
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from deniable.app.server.questions.answer_formats import to_csv
from deniable.release.answer.answer_table import Answer
from tests.app.server.questions.asking import (
    COUNT,
    Asker,
    people_of,
    serving,
    write_hospital,
)
from tests.app.server.questions.commands import children_of, serve

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


def test_a_failure_says_nothing_but_a_reference(client, token, monkeypatch):
    from deniable.app.server.children.pooled_engine import TimedEngine

    ann, bodies = Asker(client, token), []
    for words in ("41 patients in ward A", "x" * 9999):

        def fail(self, written, words=words):
            raise ValueError(words)

        monkeypatch.setattr(TimedEngine, "run", fail)
        failed = ann.answer(epsilon=3, fresh=True)
        assert failed.status_code == 502
        headers = sorted((k, v) for k, v in failed.headers.items() if k != "date")
        reference = failed.json()["detail"].partition("reference ")[2][:8]
        bodies.append((failed.text.replace(reference, ""), headers))
    assert bodies[0] == bodies[1]


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
