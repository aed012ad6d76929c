import datetime
import ipaddress
import logging
import os
import re
import signal
import socket
import ssl
import subprocess
import sys

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import deniable as dp
from deniable.app.server.serving import ServerPlace, keep_log_private
from tests.app.server.racing import ROOT

SERVE = """
from pathlib import Path
from fastapi import APIRouter, Request
from deniable.app.server.application import make_application
from deniable.app.server.serving import ServerPlace, serve
router = APIRouter()
@router.get("/who")
async def who(request: Request):
    return {"address": request.client.host}
@router.get("/fail")
async def fail():
    raise ZeroDivisionError("secret words")
place = ServerPlace(port=0, %s)
application = make_application(router, https=place.https)
serve(application, place, ready=lambda url: print(url, flush=True))
"""


@pytest.fixture
def serving():
    """`serving("behind_proxy=True")`: the port of a server, and the process."""
    started = []

    def start(options=""):
        command = [sys.executable, "-c", SERVE % options]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, cwd=ROOT, **how)
        started.append(process)
        return int(process.stdout.readline().rpartition(":")[2]), process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def request(port, path, headers=""):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        return exchange(connection, path, headers)


def exchange(connection, path, headers=""):
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n"
    connection.sendall(head.encode())
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer.decode()


def make_certificate(folder):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    (folder / "c.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "k.pem").write_bytes(private)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "survey.example.org", ""])
def test_plain_http_is_for_this_machine(host):
    with pytest.raises(dp.InvalidParameter, match="this machine only"):
        ServerPlace(host=host).check(origin=None)
    with pytest.raises(dp.InvalidParameter, match="this machine only"):
        ServerPlace(host=host, behind_proxy=True).check(origin="https://survey.example.org")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_certificate(host):
    ServerPlace(host=host).check(origin=None)
    ServerPlace(host=host).check(origin="http://localhost:8000")
    ServerPlace(host=host, behind_proxy=True).check(origin="https://survey.example.org")


def test_an_origin_without_https_is_refused(tmp_path):
    for place in (ServerPlace(), ServerPlace("::", 1, tmp_path, tmp_path)):
        with pytest.raises(dp.InvalidParameter, match="plain http"):
            place.check(origin="http://survey.example.org")


def test_a_proxy_must_be_named(tmp_path):
    """Otherwise all people share its address, and the limit of an open link is theirs."""
    origin = "https://survey.example.org"
    with pytest.raises(dp.InvalidParameter, match="--behind-proxy"):
        ServerPlace().check(origin=origin)
    ServerPlace(certificate=tmp_path, key=tmp_path).check(origin=origin)


def test_a_certificate_needs_its_key(tmp_path):
    with pytest.raises(dp.InvalidParameter, match="both"):
        ServerPlace(certificate=tmp_path).check(origin=None)


def test_https_without_session_tickets(serving, tmp_path):
    make_certificate(tmp_path)
    paths = (
        f"certificate=Path({str(tmp_path / 'c.pem')!r}), key=Path({str(tmp_path / 'k.pem')!r})"
    )
    port, _ = serving(paths)
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ssl.create_default_context(cafile=tmp_path / "c.pem")
        context.minimum_version = context.maximum_version = version
        plain = socket.create_connection(("127.0.0.1", port))
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            answer = exchange(connection, "/nothing")
            session = connection.session
        assert answer.startswith("HTTP/1.1 404")
        assert "strict-transport-security" in answer.lower()
        assert not (session and session.has_ticket)


def test_the_log_names_nobody(serving):
    port, process = serving()
    for path in ("/who", "/fail", "/nothing?secret=1"):
        request(port, path, "X-Forwarded-For: 192.0.2.99\r\n")
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"secret nonsense\r\n\r\n")
        connection.recv(1000)
    process.send_signal(signal.SIGINT)
    _, log = process.communicate()
    assert re.fullmatch(r"[0-9-]{10} failure [0-9a-f]{8}: ZeroDivisionError in \S+\n", log)
    assert "192.0.2.99" not in log


@pytest.mark.parametrize(("behind", "seen"), [(True, "192.0.2.99"), (False, "127.0.0.1")])
def test_only_a_proxy_may_name_an_address(serving, behind, seen):
    port, _ = serving(f"behind_proxy={behind}")
    assert f'"{seen}"' in request(port, "/who", "X-Forwarded-For: 192.0.2.99\r\n")


def test_no_header_names_the_program(serving):
    port, _ = serving()
    assert "uvicorn" not in request(port, "/").lower()


def test_the_log_has_no_time_finer_than_a_day(capsys):
    keep_log_private()
    logging.getLogger("deniable.server").error("words")
    logging.getLogger("uvicorn.error").error("others")
    logging.getLogger("uvicorn.error").warning("not this")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[1:] for line in lines] == [["words"], ["others"]]
    assert all(len(line.split(" ")[0]) == len("2026-01-01") for line in lines)


def test_the_process_ends_when_it_is_told(serving):
    port, process = serving()
    os.kill(process.pid, signal.SIGTERM)
    process.communicate()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
