import os
import signal
import subprocess
import sys
import time
from collections import Counter

import httpx2
import pytest

import deniable as dp
from deniable.app.cli import main
from deniable.app.server.accounts.login_desk import LOGINS_PER_HOUR
from tests.app.server.questions.asking import people_of, write_hospital


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    return end.value.code, out, err


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with two workers, as a command; its address, a token and the owner's key."""
    file = write_hospital(tmp_path_factory.mktemp("serve"), epsilon=1000)
    folder = file.parent.parent
    start = "from deniable.app.cli import main; main()"
    command = [sys.executable, "-c", start, "serve", str(file), "--port", "0"]
    command += ["--workers", "2", "--places", "1", "--padding", "off"]
    command += ["--database", str(folder / "server.sqlite")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().split()[-1]
    yield url.replace("/v1/", "/"), people_of(folder).new_token("ann"), file, process
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    process.stdout.close()


def test_the_command_line_asks_a_server(capsys, served, monkeypatch):
    url, token, file, _ = served
    key = (file.parent / "deniable.ledger.key.pub").read_text().strip()
    monkeypatch.setenv("DENIABLE_TOKEN", token)
    text, at = "SELECT COUNT(*) AS n FROM visits", ["--server", url, "--server-key", key]
    status, out, err = run(capsys, "sql", text, "--epsilon", "1", *at)
    assert (status, err) == (0, "")
    assert "±" in out
    status, out, _ = run(capsys, "explain", text, "--epsilon", "1", *at)
    assert out.startswith("Answer at epsilon 1")
    status, out, _ = run(capsys, "profile", "visits", "--epsilon", "5", *at)
    assert status == 0
    status, _, err = run(capsys, "sql", text, "--epsilon", "1", *at, "--analyst", "bob")
    assert status == 2
    assert "your token says who asks" in err


def test_without_a_token_it_is_said(capsys, monkeypatch):
    monkeypatch.delenv("DENIABLE_TOKEN", raising=False)
    status, _, err = run(
        capsys, "sql", "SELECT 1", "--epsilon", "1", "--server", "https://x.example/y"
    )
    assert status == 2
    assert "DENIABLE_TOKEN" in err


def test_an_address_has_one_limit_for_all_workers(served):
    """Each request is a connection of its own, which any worker takes."""
    url, *_ = served
    for last in range(2, 9):
        hour = time.time() // 3600
        allowed = count_tries(f"{url.rpartition('/')[0]}/login", f"127.0.0.{last}")
        if time.time() // 3600 == hour:  # else another hour began meanwhile: once more
            break
    assert allowed == {400: LOGINS_PER_HOUR, 429: 40}


def count_tries(url, address):
    """The statuses of log-ins from one address of this machine."""
    counted = Counter()
    for _ in range(LOGINS_PER_HOUR + 40):
        with httpx2.Client(transport=httpx2.HTTPTransport(local_address=address)) as client:
            answer = client.post(url, content="{}", headers={"Sec-Fetch-Site": "same-origin"})
            counted[answer.status_code] += 1
    return counted


def test_a_killed_worker_is_replaced(served):
    url, token, file, process = served
    key = (file.parent / "deniable.ledger.key.pub").read_text().strip()
    session = dp.connect(url, token=token, key=key)
    workers = children_of(process.pid)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    while len(set(children_of(process.pid)) - {workers[0]}) < 2:
        pass
    for i in range(6):
        assert session.sql(
            f"SELECT COUNT(*) AS n FROM visits WHERE cost > {i}", epsilon=1
        ).margin


def children_of(pid):
    listing = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=True
    )
    return [int(word) for word in listing.stdout.split()]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--padding", "maybe"], "must be on or off"),
        (["--slot", "0"], "between 0.01 and 3600"),
        (["--requests-each", "0"], "--requests-each"),
        (["--host", "0.0.0.0"], "Without a certificate"),
        (["--wokers", "2"], "--workers"),
    ],
)
def test_wrong_options_are_said(capsys, tmp_path, options, why):
    status, _, err = run(capsys, "serve", str(write_hospital(tmp_path)), *options)
    assert status == 2
    assert why in err


def test_two_policies_need_two_names(capsys, tmp_path):
    file = str(write_hospital(tmp_path))
    status, _, err = run(capsys, "serve", file, file)
    assert status == 2
    assert "/v1/hospital" in err


def test_a_locked_person_is_unlocked(capsys, tmp_path):
    from deniable.app.server.accounts.server_database import ServerDatabase
    from deniable.app.server.questions.question_queue import QuestionQueue

    database = ["--database", str(tmp_path / "s.sqlite")]
    QuestionQueue(ServerDatabase(tmp_path / "s.sqlite")).count_overrun("ann")
    assert run(capsys, "unlock", "ann", *database)[:2] == (0, "ann may ask again.\n")
    assert run(capsys, "unlock", "ann", *database)[0] == 2
