"""A plugin for tests of servers: their children are forked (see tools/warm_children.py)."""

import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tools.warm_children import WarmChildren

STARTED_BY_EXEC = "tests/app/server/children/"  # the tests of how children are started


@pytest.fixture(scope="session")
def warm_children(pytestconfig: pytest.Config) -> Iterator[None]:
    """While this lasts, servers of this process fork their children; not at full size."""
    if pytestconfig.getoption("full") or os.environ.get("DENIABLE_FULL"):
        yield
        return
    from deniable.app.server.children import child_process

    by_exec, lock = child_process.start, threading.Lock()
    warm: list[WarmChildren] = []

    def start(environment: Mapping[str, str]) -> Any:
        if STARTED_BY_EXEC in os.environ.get("PYTEST_CURRENT_TEST", ""):
            return by_exec(environment)
        with lock:
            if not warm:
                warm.append(WarmChildren(environment))
        return warm[0].start(environment)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child_process, "start", start)
        yield
    for children in warm:
        children.close()
