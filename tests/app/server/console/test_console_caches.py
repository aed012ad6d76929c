"""A cache between people and a server: the second person sees nothing of the first."""

import json

import pytest

from deniable.app.server.accounts.role_matrix import ANYONE, MATRIX

LOOKS = sorted(path for method, path in MATRIX if method == "GET")
PEOPLE = ("olga", "ann", "audrey", "")
PUBLIC = ("/console-files/{name}",)  # the same for everybody, and named by their hash


class SharedCache:
    """Keeps what it may, for the next person who asks (RFC 9111)."""

    def __init__(self):
        self.kept = {}

    def get(self, visitor, path):
        if path not in self.kept:
            answer = visitor.get(path)
            rules = answer.headers["cache-control"]
            if "no-store" in rules or "private" in rules:
                return answer
            self.kept[path] = answer
        return self.kept[path]


@pytest.fixture
def addresses(hospital):
    """An address for each route that people look at."""
    body = json.dumps({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "1/8"})
    taken = hospital.visitor("ann")._send("POST", "/v1/hospital/releases", content=body).json()
    while (
        hospital.visitor("ann").get(f"/v1/hospital/releases/{taken['id']}").status_code == 202
    ):
        pass
    names = {"policy": "hospital", "name": taken["id"], "form": "csv", "provider": "clinic"}
    return {path: path.format(**names) for path in LOOKS}


def test_a_cache_keeps_nothing_of_anybody(hospital, addresses):
    cache, seen = SharedCache(), 0
    for route, address in addresses.items():
        for name in PEOPLE:
            visitor = hospital.visitor(name)
            answer = cache.get(visitor, address)
            seen += answer.status_code == 200 and ANYONE not in MATRIX["GET", route]
            assert answer.status_code == visitor.get(address).status_code, (route, name)
    assert seen > len(PEOPLE) * 5  # private pages were looked at
    assert {route for route in addresses if addresses[route] in cache.kept} <= {*PUBLIC}
