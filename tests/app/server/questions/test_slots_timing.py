"""Can the time of an answer tell a heavy question from a light one? With slots it cannot."""

import time

import numpy as np
import pytest
from scipy import stats

from deniable.app.server.children.pooled_engine import TimedEngine
from tests.app.server.questions.asking import Asker, people_of, serving, write_hospital

EXTRA = 0.8  # seconds that one more unit with many rows costs
SLOT = 3.0
ENOUGH = 100  # pairs, for a test of all times


@pytest.fixture
def heavy(monkeypatch):
    """A switch: while it is on, an engine works longer, as with a unit of very many rows."""
    switch, run = [False], TimedEngine.run

    def run_longer(self, written):
        if switch[0]:
            time.sleep(EXTRA)
        return run(self, written)

    monkeypatch.setattr(TimedEngine, "run", run_longer)
    return switch


def watch(asker, number):
    """The seconds until each thing that an asker can watch has changed, after the asking."""
    settled = asker.get("ledger/head").json()["number"] + 2  # after the reservation
    begun = time.perf_counter()
    taken = asker.ask(epsilon=1, question_id=f"q{number}", fresh=True).json()
    looks = {
        "head": lambda: asker.get("ledger/head").json()["number"] == settled,
        "entries": lambda: asker.get("ledger/entries").json()[-1]["state"] != "reserved",
        "answer": lambda: asker.get(f"releases/{taken['id']}").status_code != 202,
    }
    seen = {}
    while len(seen) < len(looks):
        for what in looks.keys() - seen.keys():
            if looks[what]():
                seen[what] = time.perf_counter() - begun
    return seen


def measure(place, heavy, pairs, **how):
    """Times of light and of heavy questions, asked in turn."""
    found = {False: [], True: []}
    with serving(place, **how) as client:
        asker = Asker(client, people_of(place.parent.parent).new_token("ann"))
        watch(asker, "warm")
        for number in range(pairs):
            for is_heavy in (False, True):
                heavy[0] = is_heavy
                found[is_heavy].append(watch(asker, f"{number}{is_heavy}"))
        heavy[0] = False
    return found


def compare(found, what):
    """The p-values of Welch's test (means) and of Kolmogorov-Smirnov's (all else)."""
    light, slow = (np.array([seen[what] for seen in found[kind]]) for kind in (False, True))
    return (
        stats.ttest_ind(light, slow, equal_var=False).pvalue,
        stats.ks_2samp(light, slow).pvalue,
    )


def test_with_slots_the_time_tells_nothing(tmp_path, heavy, size):
    pairs = size(small=2, full=5000, what="pairs of questions in slots")
    place = write_hospital(tmp_path, epsilon=10**6)
    found = measure(place, heavy, pairs, padded=True, slot=SLOT)
    for what in ("answer", "head", "entries"):
        assert min(seen[what] for kind in found for seen in found[kind]) >= SLOT
        if pairs < ENOUGH:
            continue  # a few pairs differ by how busy the machine is
        welch, smirnov = compare(found, what)
        assert welch > 1e-5
        assert smirnov > 1e-5


def test_without_slots_it_cries_out(tmp_path, heavy, size):
    pairs = size(small=8, full=500, what="pairs of questions without slots")
    place = write_hospital(tmp_path, epsilon=10**6)
    found = measure(place, heavy, pairs, padded=False)
    for what in ("answer", "head", "entries"):
        light, slow = (min(seen[what] for seen in found[kind]) for kind in (False, True))
        assert light < EXTRA <= slow  # one light question in a quiet moment is enough
        assert pairs < ENOUGH or compare(found, what)[1] < 1e-5
