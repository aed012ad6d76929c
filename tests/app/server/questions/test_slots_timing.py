"""Can times tell a heavy question from a light one? With slots they cannot; without, they do.

Kinds of question are asked in turn: a light one, the same about a table with one more patient
of very many rows, one whose noise takes long to draw, and one that fails. Watched are the
answer, the ledger's head and entries, and the same question of somebody else. Who repeats a
question that fails is answered in a slot of his own, so the one that fails is compared with a
light one that nobody repeats.

Most of the time is waiting for slots. At full size rounds go on in lanes beside each other:
policies of one server, each with people, a ledger and places of its own. What the times say is
printed after each piece, so that a run that is stopped has said how far it came.
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
PIECE = 200  # rounds, after which the figures so far are printed
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

        def draw_slowly(plan, *given, **how):
            if kind_of(plan) == "noise":
                time.sleep(course.extra)
            return draw(plan, *given, **how)

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


def measure(folder, course, rounds, kinds, *, padded):
    """The times of questions of some kinds, which are asked in turn: those so far, after each
    piece of the rounds."""
    heavy = "".join(f"one,A,{i % 5000},{i % 90}\n" for i in range(HEAVY_ROWS))
    places = []
    for lane in range(course.lanes):
        places.append(write_hospital(folder, epsilon=10**9, more=HEAVY, name=f"lane{lane}"))
        light = (places[-1].parent / "visits.csv").read_text()
        (places[-1].parent / "heavy.csv").write_text(light + heavy)
    limits = {"places": course.lanes}
    records = {kind: [] for kind in kinds}
    with serving(*places, padded=padded, slot=course.slot, limits=limits) as client:
        lanes = [lane_of(client, people_of(folder), place) for place in places]
        each = range(-(-rounds // course.lanes))
        with ThreadPoolExecutor(course.lanes) as threads:
            if rounds >= ENOUGH:  # the first round warms up
                list(threads.map(lambda lane: ask_in_lane(lane, [-1], kinds, padded), lanes))
            step = PIECE // course.lanes
            for piece in (each[start : start + step] for start in each[::step]):
                work = threads.map(
                    lambda lane, piece=piece: ask_in_lane(lane, piece, kinds, padded), lanes
                )
                for times in work:
                    for kind in kinds:
                        records[kind] += times[kind]
                yield records


def lane_of(client, tokens, place):
    """The people of one policy, who wait for nobody in another lane."""
    lane = place.parent.name
    return {
        name: Asker(client, tokens.new_token(f"{name} of {lane}", role=role), lane)
        for name, role in (("ann", "analyst"), ("bob", "analyst"), ("eve", "auditor"))
    }


def ask_in_lane(people, numbers, kinds, padded):
    """The times of the questions about one policy."""
    records = {kind: [] for kind in kinds}
    for number in numbers:
        for kind in random.sample(kinds, len(kinds)):
            table = "heavy" if kind == "rows" else "visits"
            price = str(price_of(number, kind))
            told = {"sql": f"SELECT COUNT(*) AS n FROM {table}", "epsilon": price}
            repeated = kind not in ("alone", "error")
            records[kind].append(watch(people, told, repeated=repeated, padded=padded))
    return records


def compare(records, kinds, what):
    """Welch's t (means) and Kolmogorov-Smirnov's p (all else) of two kinds of question."""
    light, other = (np.array([seen[what] for seen in records[kind]]) for kind in kinds)
    welch = stats.ttest_ind(light, other, equal_var=False).statistic
    return float(welch), float(stats.ks_2samp(light, other).pvalue)


def compare_all(records, kinds, where):
    """What can be watched, compared and printed, with the number of pairs."""
    watched = [what for what in WATCHED if what in records[kinds[0]][0]]
    figures = {what: compare(records, kinds, what) for what in watched}
    told = "; ".join(f"{what} t {t:.2f}, p {p:.2g}" for what, (t, p) in figures.items())
    print(f"{len(records[kinds[0]])} pairs of {kinds} {where}: {told}", flush=True)
    return figures


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_with_slots_the_time_tells_nothing(tmp_path, slow_down, size, kinds):
    rounds = size(small=1, full=5000, what="pairs of questions of two kinds in slots")
    course = course_of(rounds)
    slow_down(course)
    for records in measure(tmp_path, course, rounds, kinds, padded=True):
        every = [
            moment for times in records.values() for seen in times for moment in seen.values()
        ]
        assert min(every) >= course.slot
        figures = compare_all(records, kinds, "in slots") if rounds >= ENOUGH else {}
        assert all(abs(welch) < T and smirnov > P for welch, smirnov in figures.values())
    assert len(records[kinds[0]]) >= rounds


@pytest.mark.parametrize("jitter", [0.0, 0.05], ids=["at once", "with jitter"])
def test_without_slots_it_cries_out(tmp_path, slow_down, size, jitter, monkeypatch):
    """Random waiting, as other servers do it, only asks for more samples."""
    rounds = size(small=3, full=500, what="pairs of questions of two kinds without slots")
    course, kinds = course_of(rounds), ("light", "noise")
    slow_down(course)
    wait = lambda _: time.sleep(random.uniform(0, jitter))  # noqa: E731
    monkeypatch.setattr(ServedSession, "_wait_for_slot", wait)
    for records in measure(tmp_path, course, rounds, kinds, padded=False):
        figures = {}
        if rounds >= ENOUGH:
            figures = compare_all(records, kinds, f"without slots, jitter {jitter}")
    for what in WATCHED:
        light, slow = (min(seen[what] for seen in records[kind]) for kind in kinds)
        assert slow >= course.extra
        if rounds < ENOUGH:
            assert light < slow  # one light question in a quiet moment is enough
            continue
        welch, smirnov = figures[what]
        assert abs(welch) > T
        assert smirnov < P
