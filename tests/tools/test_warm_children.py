"""A forked child is, to its server, the child that exec would have made."""

import os
import select
import socket
import threading
import time

import pytest

from deniable.app.server.children import child_process
from deniable.app.server.children.child_process import ChildProcess, ChildSources
from deniable.errors import InvalidPolicy
from deniable.policy import Column, Policy, Table
from tools.warm_children import WarmChildren


@pytest.fixture(scope="module")
def warm():
    children = WarmChildren({"PATH": os.environ["PATH"]})
    yield children
    children.close()


def policy(source):
    return Policy(
        [Table("visits", str(source), columns={"ward": Column("ward", keys=["A", "B"])})],
        epsilon=1,
    )


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "visits.csv").write_text("ward\nA\nB\n")
    return ChildSources.of(policy(tmp_path / "visits.csv"))


def test_a_forked_child_says_what_one_by_exec_says(warm, sources, monkeypatch):
    by_exec = ChildProcess(sources)
    monkeypatch.setattr(child_process, "start", warm.start)
    forked = [ChildProcess(sources) for _ in range(2)]
    told = {
        (child.engine_name, child.runs_plan_text, repr(child.schemas))
        for child in (by_exec, *forked)
    }
    assert len(told) == 1
    assert len({child.id for child in forked}) == 2
    for child in (by_exec, *forked):
        assert os.getsid(child.id) == child.id
        child.end()
    for child in forked:
        while is_there(child.id):
            time.sleep(0)


def is_there(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_refusal_ends_the_child(warm, tmp_path, monkeypatch):
    monkeypatch.setattr(child_process, "start", warm.start)
    with pytest.raises(InvalidPolicy, match="nowhere"):
        ChildProcess(ChildSources.of(policy(tmp_path / "nowhere.csv")))


def test_a_child_ends_with_its_server(warm):
    child = warm.start({})
    child.stdin.close()
    assert select.select([child.stdout], [], [])[0]
    assert child.stdout.read() == b""
    child.stdout.close()
    child.wait()


def test_a_process_that_has_ended_forks_no_child():
    """Its silence is no child with the number 0: to kill that is to kill our own group."""
    warm = object.__new__(WarmChildren)
    warm._lock = threading.Lock()
    warm._ours, theirs = socket.socketpair()
    theirs.shutdown(socket.SHUT_WR)
    with warm._ours, theirs, pytest.raises(OSError, match="has ended"):
        warm.start({})
