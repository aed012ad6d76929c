"""Can times tell a heavy question from a light one? With slots they cannot; without, they do.

Kinds of question are asked in turn: a light one, the same about a table with one more patient
of very many rows, one whose noise takes long to draw, and one that fails. Watched are the
answer, the ledger's head and entries, and the same question of somebody else. Who repeats a
question that fails is answered in a slot of his own, so the one that fails is compared with a
light one that nobody repeats.

Most of the time is waiting for slots. At full size rounds go on in lanes beside each other:
policies of one server, each with people, a ledger and places of its own.
"""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from deniable.app.server.children.pooled_engine import TimedEngine
from deniable.app.server.questions import question_queue, slots
from deniable.app.server.questions.served_session import ServedSession
from deniable.errors import EngineFailed
from deniable.release.session import engine_run
from tests.app.server.questions.asking import Asker, people_of, serving, write_hospital

PAIRS = (("light", "rows"), ("light", "noise"), ("alone", "error"))
KINDS = ("light", "rows", "noise", "alone", "error")
WATCHED = ("answer", "head", "entries", "repeat")
HEAVY_ROWS = 100_000
ENOUGH = 100  # rounds, for tests of whole distributions
T, P = 4.5, 1e-5  # beyond which Welch's t, and Kolmogorov-Smirnov's p, cry out
HEAVY = """
[tables.heavy]
source = "heavy.csv"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_unit_per_group = 3
[tables.heavy.columns]
cost = { bounds = [0, 5000], step = 1 }
ward = { keys = ["A", "B"] }
"""


@dataclass
class Course:
    """How long slots last, and how much longer the work of a heavy question takes."""

    slot: float
    extra: float
    lanes: int = 1


def course_of(rounds):
    if rounds < ENOUGH:
        return Course(slot=3.0, extra=0.8)
    return Course(slot=0.5, extra=0.05, lanes=4)


def price_of(number, kind):
    """The epsilon of a question: no two have the same, and it tells the kind."""
    return Fraction(10**6 + (number + 2) * len(KINDS) + KINDS.index(kind), 10**6)


def kind_of(plan):
    """The kind of the question that a plan answers."""
    return KINDS[int(plan.epsilon * 10**6) % len(KINDS)]


@pytest.fixture
def slow_down(monkeypatch):
    """`slow_down(course)`: from now on, engines and noise work as the course says."""

    def start(course):
        run, draw = TimedEngine.run, engine_run.draw_answer

        def run_or_fail(self, written):
            if kind_of(written.plan) == "error":
                raise EngineFailed("00000000")
            return run(self, written)

        def draw_slowly(plan, *given):
            if kind_of(plan) == "noise":
                time.sleep(course.extra)
            return draw(plan, *given)

        monkeypatch.setattr(TimedEngine, "run", run_or_fail)
        monkeypatch.setattr(engine_run, "draw_answer", draw_slowly)
        monkeypatch.setattr(question_queue, "MOST_OVERRUNS", 10**9)  # of a busy machine

    return start


def watch(people, told, *, repeated, padded):
    """The seconds from the asking until each thing that can be watched has changed."""
    settled = people["eve"].get("ledger/head").json()["number"] + 2  # after the reservation
    begun = time.perf_counter()
    taken = people["ann"].ask(told).json()
    again = people["bob"].ask(told).json() if repeated else None
    looks = {
        "head": lambda: people["eve"].get("ledger/head").json()["number"] >= settled,
        "entries": lambda: (
            people["eve"].get("ledger/entries").json()[-1]["state"] != "reserved"
        ),
        "answer": lambda: people["ann"].get(f"releases/{taken['id']}").status_code != 202,
    }
    if again is not None:
        path = f"releases/{again['id']}"
        looks["repeat"] = lambda: people["bob"].get(path).status_code != 202
    if padded:  # in the middle of the slot nothing is seen, and no more looks are needed then
        slots.wait_until(taken["ready"] - (taken["ready"] - slots.now()) / 2)
        early = [what for what, look in looks.items() if look()]
        assert not early or slots.now() >= taken["ready"], early
        slots.wait_until(taken["ready"] - 0.02)
    seen = {}
    while len(seen) < len(looks):
        for what in random.sample(sorted(looks.keys() - seen.keys()), len(looks) - len(seen)):
            if looks[what]():
                seen[what] = time.perf_counter() - begun
    return seen


def measure(folder, course, rounds, *, padded):
    """The times of questions of all kinds, which are asked in turn."""
    heavy = "".join(f"one,A,{i % 5000},{i % 90}\n" for i in range(HEAVY_ROWS))
    places = []
    for lane in range(course.lanes):
        places.append(write_hospital(folder, epsilon=10**9, more=HEAVY, name=f"lane{lane}"))
        light = (places[-1].parent / "visits.csv").read_text()
        (places[-1].parent / "heavy.csv").write_text(light + heavy)
    limits = {"places": course.lanes}
    found = {kind: [] for kind in KINDS}
    with serving(*places, padded=padded, slot=course.slot, limits=limits) as client:
        people = people_of(folder)
        each = range(-1, -(-rounds // course.lanes))  # the first round warms up
        with ThreadPoolExecutor(course.lanes) as lanes:
            work = lanes.map(
                lambda lane: ask_in_lane(client, people, f"lane{lane}", each, padded),
                range(course.lanes),
            )
            for times in work:
                for kind in KINDS:
                    found[kind] += times[kind]
    return found


def ask_in_lane(client, tokens, lane, numbers, padded):
    """The times of the questions about one policy."""
    people = {
        name: Asker(client, tokens.new_token(f"{name} of {lane}", role=role), lane)
        for name, role in (("ann", "analyst"), ("bob", "analyst"), ("eve", "auditor"))
    }
    found = {kind: [] for kind in KINDS}
    for number in numbers:
        for kind in random.sample(KINDS, len(KINDS)):
            table = "heavy" if kind == "rows" else "visits"
            price = str(price_of(number, kind))
            told = {"sql": f"SELECT COUNT(*) AS n FROM {table}", "epsilon": price}
            repeated = kind not in ("alone", "error")
            seen = watch(people, told, repeated=repeated, padded=padded)
            if number >= 0:
                found[kind].append(seen)
    return found


def compare(found, kinds, what):
    """Welch's t (means) and Kolmogorov-Smirnov's p (all else) of two kinds of question."""
    light, other = (np.array([seen[what] for seen in found[one]]) for one in kinds)
    welch = stats.ttest_ind(light, other, equal_var=False).statistic
    return float(welch), float(stats.ks_2samp(light, other).pvalue)


def test_with_slots_the_time_tells_nothing(tmp_path, slow_down, size):
    rounds = size(small=1, full=5000, what="pairs of each kind of question in slots")
    course = course_of(rounds)
    slow_down(course)
    found = measure(tmp_path, course, rounds, padded=True)
    for what in WATCHED:
        every = [seen[what] for times in found.values() for seen in times if what in seen]
        assert min(every) >= course.slot
        for kinds in PAIRS if rounds >= ENOUGH else ():
            if "error" in kinds and what == "repeat":
                continue
            welch, smirnov = compare(found, kinds, what)
            print(f"{what} of {kinds}: t {welch:.2f}, p {smirnov:.2g}", flush=True)
            assert abs(welch) < T
            assert smirnov > P


@pytest.mark.parametrize("jitter", [0.0, 0.05], ids=["at once", "with jitter"])
def test_without_slots_it_cries_out(tmp_path, slow_down, size, jitter, monkeypatch):
    """Random waiting, as other servers do it, only asks for more samples."""
    rounds = size(small=3, full=500, what="pairs of each kind of question without slots")
    course = course_of(rounds)
    slow_down(course)
    wait = lambda _: time.sleep(random.uniform(0, jitter))  # noqa: E731
    monkeypatch.setattr(ServedSession, "_wait_for_slot", wait)
    found = measure(tmp_path, course, rounds, padded=False)
    for what in WATCHED:
        light, slow = (min(seen[what] for seen in found[kind]) for kind in ("light", "noise"))
        assert slow >= course.extra
        if rounds < ENOUGH:
            assert light < slow  # one light question in a quiet moment is enough
            continue
        welch, smirnov = compare(found, ("light", "noise"), what)
        print(f"{what} without slots, jitter {jitter}: t {welch:.2f}, p {smirnov:.2g}")
        assert abs(welch) > T
        assert smirnov < P
