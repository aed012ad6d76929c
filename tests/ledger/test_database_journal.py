"""Races, kills and failing disks: on real databases, by real processes."""

import pytest

from tests.ledger.racing import run

SECONDS = 1500  # after which what hangs is ended


@pytest.fixture
def processes(size):
    return size(small=8, full=64, what="processes in a race for a budget")


def test_a_race_for_the_last_of_it(place, size, processes):
    """All start behind a barrier, far more ask than there is room for: exactly the room."""
    rounds = size(small=1, full=50, what="rounds of the race on each store")
    requests = size(small=400, full=10_000, what="requests in each")
    for _ in range(rounds):
        race = {"processes": processes, "requests": requests, "room": 100}
        found = run("race", seconds=SECONDS, **place(), **race)
        assert found == {
            "granted": 100,
            "codes": [0],
            "entries": 100,
            "verified": 101,
            "left": "0",
        }


def test_the_race_is_lost_without_the_lock(place, size, processes):
    """The same race, on a ledger that decides before it locks: it grants too much each time."""
    rounds = size(small=1, full=50, what="rounds of the race without the lock")
    for _ in range(rounds):
        race = {
            "processes": processes,
            "requests": 3 * processes,
            "room": processes,
            "mutant": True,
        }
        found = run("race", seconds=SECONDS, **place(), **race)
        assert found["codes"] == [0]
        assert found["granted"] > processes


def test_a_killed_process_loses_no_charge(place, size, tmp_path):
    kills = size(small=25, full=1_000, what="processes killed at random moments on each store")
    for turn in range(kills // 25):
        log = tmp_path / f"released {turn}"
        found = run("kill", seconds=SECONDS, **place(), kills=25, log=log)
        assert found["kills"] == 25
        assert found["lost"] == 0  # no release without its charge
        assert found["released"] > 5  # most lives last for a release or more
        assert 0 <= found["charged"] - found["released"] <= 25  # at most the last of each life
        assert found["spent"] == str(found["charged"])  # every charge is in the sums


@pytest.mark.parametrize("fault", ["disk full", "failed sync"])
def test_a_failing_disk_loses_no_charge(fault, size, tmp_path):
    """Every write is refused from some moment on: no release then, and the next goes on."""
    runs = size(small=2, full=100, what="processes whose disk fails")
    failures = 0
    for turn in range(runs):
        where = {"where": tmp_path / f"{turn}.sqlite", "key": tmp_path / f"{turn}.key"}
        found = run(
            "starve", seconds=SECONDS, **where, fault=fault, log=tmp_path / f"{turn}.log"
        )
        assert found["lost"] == 0
        assert found["released"] <= found["charged"]
        assert found["released"] >= found["before"]
        failures += found["failures"]
    assert failures == 3 * runs  # every try after that moment was told so
