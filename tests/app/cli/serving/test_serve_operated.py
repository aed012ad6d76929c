"""The page for operators, the proxy and the unit: each is run as it is written."""

import datetime
import json
import os
import re
import signal
import ssl
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tools.system import find

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs" / "how-to" / "operate.md"
FENCE = re.compile(r"^```sh ?(?P<kind>\w*)\n(?P<code>.*?)^```", re.DOTALL | re.MULTILINE)
HOST = "stats.clinic.example"
LOG = "deniable ledger log --policy hospital/deniable.toml --json"
QUESTION = {"sql": "SELECT COUNT(*) AS canary FROM visits", "epsilon": "1/2"}


def environment():
    folder = Path(sys.executable).parent
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}


@contextmanager
def served(command, folder, log):
    """A server in the background, and its address; ended in order."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            line = process.stdout.readline().decode()
            match = re.search(r"http://[^/\s]+", line)
            assert match, log.read_text()
            yield process, match.group()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.stdout.close()
            process.wait()


def run(code, folder):
    code = code.replace("pip install 'deniable[server]'\n", "")  # it is installed
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_command_of_the_page_works(tmp_path):
    blocks = [(match["kind"], match["code"]) for match in FENCE.finditer(PAGE.read_text())]
    kinds = [kind for kind, _ in blocks]
    assert kinds.count("background") == kinds.count("stop") == 1
    log, shown, address = tmp_path / "log", [], "http://127.0.0.1:8000"
    with ExitStack() as running:
        for kind, code in blocks:
            if kind == "background":
                assert code.startswith("deniable serve ")
                command = code.replace("--port 8000", "--port 0")
                process, address = running.enter_context(served(command, tmp_path, log))
            elif kind == "stop":
                process.send_signal(signal.SIGTERM)
                assert process.wait() == 0
            else:
                if "elsewhere/old" in code:  # after this the ledger is another one
                    entries = run(LOG, tmp_path)
                here = code.replace("http://127.0.0.1:8000", address)
                shown.append(run(here, tmp_path))
    everything = "\n".join(shown)
    assert "ann  analyst  password, 248289761001 at https://login.clinic.example" in everything
    assert '{"ready":true}' in everything
    assert "deniable_questions_taken_total 1\n" in everything
    assert "contains 1 earlier head" in everything
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert ("ann", 202) in {(line["person"], line["status"]) for line in lines}
    assert "SELECT" not in log.read_text()
    # The question that was charged before the stop has its outcome: the answer, or that it
    # was late for its slot, on a busy machine.
    states = [json.loads(entry)["state"] for entry in entries.splitlines()]
    assert states[0] in ("settled", "failed")
    assert states[1:] == ["settled"]
    assert run(LOG, tmp_path) == ""


def write_certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "stats.crt").write_bytes(certificate.public_bytes(pem))
    (folder / "stats.key").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


@contextmanager
def proxied(folder, address):
    """nginx with our configuration, on sockets in a folder; it returns when it listens."""
    write_certificate(folder)
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for before, after in (
        ("listen 80;", f"listen unix:{folder}/plain;"),
        ("listen 443 ssl;", f"listen unix:{folder}/tls ssl;"),
        ("http://127.0.0.1:8000", address),
        ("worker_processes auto;", f"worker_processes 1;{' user root;' * (os.geteuid() == 0)}"),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    (folder / "nginx.conf").write_text(text)
    paths = [f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy")]
    paths += [f"{kind}_temp_path {folder}/{kind};" for kind in ("fastcgi", "uwsgi", "scgi")]
    changed = text.replace("http {\n", "http {\n" + "\n".join(paths) + "\n", 1)
    (folder / "nginx.conf").write_text(changed)
    nginx = [str(find("nginx")), "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"]
    subprocess.run(nginx, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run([*nginx, "-s", "stop"], check=True, capture_output=True)


@pytest.mark.needs("nginx")
def test_the_proxy_speaks_https_and_keeps_no_log_of_questions(tmp_path):
    blocks = [match["code"] for match in FENCE.finditer(PAGE.read_text())]
    (begin,) = (code for code in blocks if "visits.csv" in code and "cat >" in code)
    run(begin, tmp_path)
    run("deniable user add ann --role analyst", tmp_path)
    token = run("deniable token new ann", tmp_path).strip()
    command = "deniable serve hospital/deniable.toml --port 0 --behind-proxy --padding off"
    folder = tmp_path / "nginx"
    folder.mkdir()
    with (
        served(f"{command} --origin https://{HOST}", tmp_path, tmp_path / "log") as (
            _,
            address,
        ),
        proxied(folder, address),
    ):
        trust = ssl.create_default_context(cafile=str(folder / "stats.crt"))
        secure = httpx2.HTTPTransport(uds=str(folder / "tls"), verify=trust)
        headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": "192.0.2.7"}
        with httpx2.Client(
            transport=secure, base_url=f"https://{HOST}", headers=headers
        ) as client:
            assert client.get("/ready").json() == {"ready": True}
            assert client.get("/v1/hospital/budget").json()["epsilon"] == "1"
            taken = client.post("/v1/hospital/releases", json=QUESTION)
            assert taken.status_code == 202
            assert client.get(f"/v1/hospital/releases/{taken.json()['id']}").status_code == 200
            large = client.post("/v1/hospital/releases", content=b"x" * 100_000)
            assert large.status_code == 413
            assert "max-age" in client.get("/health").headers["strict-transport-security"]
        plain = httpx2.HTTPTransport(uds=str(folder / "plain"))
        with httpx2.Client(transport=plain, base_url=f"http://{HOST}") as client:
            moved = client.get("/health")
            assert (moved.status_code, moved.headers["location"]) == (
                301,
                f"https://{HOST}/health",
            )
    logs = [path.read_text() for path in folder.glob("*.log")] + [
        (tmp_path / "log").read_text()
    ]
    assert not any(word in log for log in logs for word in ("canary", token, "releases"))
    assert not (folder / "access.log").exists()


@pytest.mark.needs("systemd-analyze")
def test_the_unit_is_one_that_systemd_takes(tmp_path):
    text = (ROOT / "deploy" / "deniable.service").read_text()
    program = "/opt/deniable/bin/deniable"
    assert text.count(f"ExecStart={program} serve ") == 1
    installed = Path(sys.executable).parent / "deniable"
    (tmp_path / "deniable.service").write_text(text.replace(program, str(installed)))
    done = subprocess.run(
        [str(find("systemd-analyze")), "verify", str(tmp_path / "deniable.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_lets_engines_give_up_their_network():
    """`RestrictNamespaces=yes` would forbid it, and a process with an engine would keep it."""
    text = (ROOT / "deploy" / "deniable.service").read_text()
    (allowed,) = re.findall(r"^RestrictNamespaces=(.*)$", text, re.MULTILINE)
    assert {*allowed.split()} == {"user", "net"}


def test_the_options_of_unit_and_container_exist():
    for name in ("deniable.service", "Dockerfile"):
        text = (ROOT / "deploy" / name).read_text()
        (line,) = (
            line
            for line in text.splitlines()
            if "serve" in line and line.startswith(("E", "C"))
        )
        options = re.findall(r"--[a-z-]+", line)
        assert options
        helped = subprocess.run(
            [str(Path(sys.executable).parent / "deniable"), "serve", "--help"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"COLUMNS": "200"},
        ).stdout
        assert all(option in helped for option in options)
