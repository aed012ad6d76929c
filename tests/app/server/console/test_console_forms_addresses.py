"""An address in any field of a form or of a request is text: nothing is opened."""

import json
import socket
from urllib.parse import quote

import pytest

from deniable.app.server.accounts.role_matrix import MATRIX
from tests.app.server.console.conftest import open_hospital
from tests.app.server.hostile_addresses import ADDRESSES

FIELDS = (
    *("sql", "draft", "head", "words", "reason", "over", "text", "operation", "column", "act"),
    *("name", "code", "after", "release", "other", "question_id", "table", "group", "filter"),
)
NUMBERS = {"epsilon": "0.1", "margin": "10", "confidence": "0.95"}
ROUTES = sorted(path for method, path in MATRIX if method == "POST" and "/console" in path)
API = sorted(path for method, path in MATRIX if method == "POST" and path.startswith("/v1/"))


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("addresses")
    (folder / "surveys").mkdir()
    with open_hospital(folder, surveys=folder / "surveys") as hospital:
        yield hospital


@pytest.fixture
def opened(monkeypatch):
    """What the server connects to, and which names it looks up."""
    addresses = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def note_connect(self, where):
        addresses.append(where)
        return connect(self, where)

    def note_look_up(host, *given, **how):
        addresses.append(host)
        return look_up(host, *given, **how)

    monkeypatch.setattr(socket.socket, "connect", note_connect)
    monkeypatch.setattr(socket, "getaddrinfo", note_look_up)
    return addresses


def requests_with(address):
    """JSON for the interface, with an address wherever a text may be."""
    yield {"sql": address, "epsilon": 1}
    for source in (f"'{address}'", f"read_csv('{address}')", f'"{address}"'):
        yield {"sql": f"SELECT COUNT(*) AS n FROM {source}", "epsilon": 1}
    yield {"sql": f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{address}'", "epsilon": 1}
    yield {"profile": {"table": address, "epsilon": 1}}
    yield {"tables": [address], "question_id": address}


def test_no_address_in_any_field_is_opened(hospital, opened, size):
    tried = size(small=2, full=len(ADDRESSES), what="spellings of addresses in every field")
    olga, anybody = hospital.visitor("olga"), hospital.visitor("")
    token = olga.token()
    for address in ADDRESSES[:: len(ADDRESSES) // tried]:
        fields = dict.fromkeys(FIELDS, address) | NUMBERS | {"form_token": token}
        for visitor in (olga, anybody):
            for route in ROUTES:
                if route.endswith("logout") and visitor is olga:
                    continue
                path = route.format(policy="hospital", name="1", provider="x")
                headers = {"Referer": quote(address)}
                assert visitor.post(path, fields, headers=headers).status_code < 500, route
        for route in API:
            for told in requests_with(address):
                path = route.format(policy="hospital")
                sent = olga._send("POST", path, content=json.dumps(told))
                assert sent.status_code < 500, (route, told)
    assert len(ADDRESSES) == 50
    assert opened == []
