"""What a child does before its first statement, so that it does not do it in a slot."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dp
from deniable.query.plan import canonical
from tests.app.server.children.test_pooled_engine import write_policy

SCRIPT = """
import json, sys
from deniable.app.server.children.engine_child import _answer, _LastMessage, load_answering
from deniable.app.server.children.written_plans import write_statements
from deniable.engines.opening import open_engine
from deniable.policy import load
from deniable.query.plan import canonical

file, ready, plan = sys.argv[1:]
engine = open_engine(load(file))
engine.schema("visits")
if ready == "ready":
    load_answering()
asked = {"act": "prepare", "plan": json.loads(plan)}
told, _ = _answer(engine, asked, _LastMessage())
before = set(sys.modules)
told, _ = _answer(engine, asked | {"act": "run"} | told, _LastMessage())
assert "tables" in told, told
print(len(set(sys.modules) - before))
"""


def test_the_first_statement_of_a_child_loads_nothing(tmp_path):
    """Without it, pandas alone takes longer than many a slot."""
    file = write_policy(tmp_path)
    question = "SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY ward"
    with dp.open(str(file)) as session:
        plan = json.dumps(canonical.to_json(session.plan(question, epsilon=1)))
    loaded = {}
    for ready in ("ready", "not ready"):
        command = [sys.executable, "-c", SCRIPT, str(file), ready, plan]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        loaded[ready] = int(done.stdout)
    assert loaded["ready"] == 0
    assert loaded["not ready"] > 100


LIMITED = """
import os
from deniable.app.server.children.engine_child import _limit

_limit({"offline": OFFLINE, "memory": MEMORY})
print(os.readlink("/proc/self/ns/net"))
print(open("/proc/self/limits").read())
"""
OWN_NETWORK = """
from ctypes import CDLL

unshare = CDLL(None).unshare
exit(unshare(0x40000000) and unshare(0x50000000))
"""


@pytest.mark.parametrize("offline", [True, False])
@pytest.mark.parametrize("memory", [1 << 30, None])
def test_a_child_has_limits_and_where_sources_are_files_no_network(offline, memory):
    """No network if this system lets a process give it up, as most do."""
    allowed = subprocess.run([sys.executable, "-c", OWN_NETWORK], check=False).returncode == 0
    script = LIMITED.replace("OFFLINE", str(offline)).replace("MEMORY", str(memory))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    network, _, table = done.stdout.partition("\n")
    limits = dict(re.findall(r"^(Max .+?)  +(\S+)", table, re.MULTILINE))
    assert (network != str(Path("/proc/self/ns/net").readlink())) is (allowed and offline)
    assert limits["Max core file size"] == "0"
    assert 1 << 30 < int(limits["Max address space"]) < 1 << 50
