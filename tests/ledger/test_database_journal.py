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
    race = {"processes": processes, "requests": requests, "room": 100}
    right = {"granted": 100, "codes": [0], "entries": 100, "verified": 101, "left": "0"}
    places = [list(place().values()) for _ in range(rounds)]
    patience = SECONDS * rounds
    assert run("race", seconds=patience, places=places, **race) == [right] * rounds


def test_the_race_is_lost_without_the_lock(place, size, processes):
    """The same race, on a ledger that decides before it locks: it grants too much each time."""
    rounds = size(small=1, full=50, what="rounds of the race without the lock")
    race = {"processes": processes, "requests": 3 * processes, "room": processes}
    places = [list(place().values()) for _ in range(rounds)]
    patience = SECONDS * rounds
    for report in run("race", seconds=patience, places=places, **race, mutant=True):
        assert report["codes"] == [0]
        assert report["granted"] > processes


def test_a_killed_process_loses_no_charge(place, size, tmp_path):
    """At random moments; and between every two steps of commit, mark, run and settlement."""
    kills = size(small=12, full=500, what="processes killed at random moments on each store")
    size(small=12, full=500, what="sessions killed between two steps on each store")
    step, steps = 0, set()
    for turn in range(max(1, kills // 25)):
        logs = [tmp_path / f"{turn} {kind}" for kind in ("random", "between")]
        jobs = [place() | {"kills": min(25, kills), "log": log} for log in logs]
        random, between = run(
            "kill_both", seconds=SECONDS, random=jobs[0], between=jobs[1] | {"first": step}
        )
        assert random["kills"] == between["kills"] == jobs[0]["kills"]
        assert random["lost"] == 0  # no release without its charge
        assert random["released"] > 2  # most lives last for a release or more
        assert 0 <= random["charged"] - random["released"] <= 25  # the last of each life
        for report in (random, between):
            assert report["spent"] == str(report["charged"])  # every charge is in the sums
        assert between["lives"] <= between["answered"] == between["settled"]
        assert between["answered"] <= between["charged"]
        step = between["next"]
        steps.add(between["points"])
    assert kills < 200 or max(steps) > 100  # a life has at least that many steps


@pytest.mark.parametrize("fault", ["disk full", "failed sync"])
def test_a_failing_disk_loses_no_charge(fault, size, tmp_path):
    """Every write is refused from some moment on: no release then, and the next goes on."""
    runs = size(small=2, full=100, what="processes whose disk fails")
    failures = 0
    for turn in range(runs):
        where = {"where": tmp_path / f"{turn}.sqlite", "key": tmp_path / f"{turn}.key"}
        report = run(
            "starve", seconds=SECONDS, **where, fault=fault, log=tmp_path / f"{turn}.log"
        )
        assert report["lost"] == 0
        assert report["released"] <= report["charged"]
        assert report["released"] >= report["before"]
        failures += report["failures"]
    assert failures == 3 * runs  # every try after that moment was told so
