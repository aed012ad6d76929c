"""Every way to a charge asks the kernel first.

The first tests read the source: they list all places that charge a ledger, so that a new one
must be entered here with the check that stands before it. The last one asks every kind of
question of a session whose kernel agrees with nothing: no charge may be left in the ledger.
"""

import ast
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import PlanRefused
from deniable.release.certificate import kernel_check

HOUSE = Path(dp.__file__).parent
CHARGES = {"ask", "ask_run", "reserve", "reserve_all", "reserve_run", "reserve_stream"}
# What charges a ledger, and the check that stands before it in the same function.
CHECKED = {
    "release/session/door.py::Door.release": "_check",
    "release/session/door.py::Door.release_all": "_prepare",
    "release/session/door.py::Door.run_like": "_check",
    "learn/measure/training.py::Training.reserve": "_check_early",
    "infer/experiments.py::Experiment.reserve": "_check",
}
# What charges for steps that a caller gives, who checks them; each is checked again.
GIVEN = {
    "release/session/door.py::Door.reserve_run": "Run.release checks every step",
    "synth/copies/copy_run.py::run_copy": "make_copy and copy_related: check_early",
    "learn/estimators/private_estimator.py::PrivateEstimator.fit": "Training.reserve",
    "learn/estimators/scoring.py::_release": "Training.reserve",
    "release/session/stream_door.py::StreamDoor.reserve": "watches: StreamDoor.check",
    "streams/state/stored_stream.py::StoredStream._begin": "watches: StreamDoor.check",
}
# Rooms of the ledger itself, and of those that ask a server or a process and not a ledger.
ELSEWHERE = ("ledger/", "client/", "app/")


def calls(node):
    """The names that a function calls, in order of lines."""
    nodes = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
    named = [
        (call.lineno, getattr(call.func, "attr", getattr(call.func, "id", "")))
        for call in nodes
    ]
    return sorted(named)


def functions(tree, path, outer=""):
    """Every function of a file with its name, without the functions inside of it."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node, path, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield f"{path}::{outer}{node.name}", node


def charging():
    for file in sorted(HOUSE.rglob("*.py")):
        path = file.relative_to(HOUSE).as_posix()
        if not path.startswith(ELSEWHERE):
            for name, node in functions(ast.parse(file.read_text(encoding="utf-8")), path):
                if any(called in CHARGES for _, called in calls(node)):
                    yield name, node


def test_every_charge_is_known_and_has_its_check_before_it():
    nodes = dict(charging())
    local = {name for name, node in nodes.items() if _own_ask(node)}  # `ask` of its own
    assert set(nodes) - local == {*CHECKED, *GIVEN}
    for name, check in CHECKED.items():
        named = calls(nodes[name])
        checked = min(line for line, called in named if called == check)
        assert checked < min(line for line, called in named if called in CHARGES), name


def _own_ask(node):
    """Whether a function only calls an `ask` that it defines itself, or is given."""
    charges = {called for _, called in calls(node)} & CHARGES
    return charges == {"ask"} and "_ledger" not in ast.unparse(node)


ROWS = pa.table(
    {
        "who": [i % 50 for i in range(300)],
        "day": [date(2026, 1, 1 + i % 9) for i in range(300)],
        "arm": ["ab"[i % 2] for i in range(300)],
        "word": [f"w{i % 3}" for i in range(300)],
        "cost": [float(i % 10) for i in range(300)],
        "free": [float(i % 10) for i in range(300)],
    }
)
MEAN = "SELECT AVG(cost) AS m FROM t"


def learn(session):
    chosen = dp.learn.NaiveBayes(epsilon=1, features=["cost"])
    chosen.fit(session.table("t"), target="arm")


ASKED = {
    "sql": lambda s: s.sql(MEAN, epsilon=1),
    "quantiles": lambda s: s.sql("SELECT MEDIAN(cost) AS m, MAX(cost) AS x FROM t", epsilon=1),
    "cubes": lambda s: s.sql("SELECT arm, COUNT(*) AS n FROM t GROUP BY CUBE (arm)", epsilon=1),
    "several": lambda s: s.release_all([s.plan(MEAN, epsilon=1)]),
    "kept": lambda s: s.recall(s.plan(MEAN, epsilon=1)),
    "found bounds": lambda s: s.sql("SELECT AVG(free) AS m FROM t", epsilon=1, bounds="find"),
    "two stages": lambda s: s.sql(
        "SELECT COUNT(*) AS n FROM t WHERE cost > (SELECT AVG(cost) FROM t)", epsilon=1
    ),
    "outer": lambda s: s.sql(
        "SELECT n * 2 AS d FROM (SELECT COUNT(*) AS n FROM t) AS q", epsilon=1
    ),
    "profile": lambda s: s.profile(epsilon=1),
    "limits": lambda s: s.limits(by="arm", epsilon=1),
    "crosstabs": lambda s: s.crosstabs([["arm"]], epsilon=1),
    "copy": lambda s: s.copy(epsilon=1, columns=["arm", "cost"]),
    "watch": lambda s: s.watch(
        "SELECT day, COUNT(*) FROM t GROUP BY day",
        since="2026-01-01",
        until="2026-01-09",
        epsilon=1,
        per_person=3,
    ),
    "experiment": lambda s: s.experiment("t", arm="arm", outcome="cost", epsilon=1).run(),
    "looks": lambda s: (
        s.experiment("t", arm="arm", outcome="cost", epsilon=1, looks=2).reserve().__enter__()
    ),
    "part": lambda s: s.partition("arm", ["a", "b"])["a"].sql(MEAN, epsilon=1),
    "training": learn,
}


@pytest.mark.parametrize("question", ASKED)
def test_nothing_is_charged_if_the_kernel_agrees_with_nothing(monkeypatch, question):
    def refuse(plan, facts, **options):
        raise PlanRefused("No rule covers this.")

    options = {"bounds": {"cost": (0, 10)}, "keys": {"arm": ["a", "b"], "word": "private"}}
    options |= {"unit": "who", "max_groups_per_unit": 2, "max_rows_per_unit_per_group": 3}
    monkeypatch.setattr(kernel_check, "check_plan", refuse)
    with dp.protect(ROWS, name="t", epsilon=9, delta=1e-4, **options) as session:
        with pytest.raises(PlanRefused, match="No rule covers this"):
            ASKED[question](session)
        assert session.ledger.entries == ()
