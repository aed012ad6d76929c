"""The progress of a statement in Spark: the share of its tasks that are done.

The share reveals no more about a row than the duration does. It goes to the caller that runs
the engine, never into a release.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_POLL_SECONDS = 0.2  # between two polls


@contextmanager
def report_progress(session: Any, tell: Callable[[float], None] | None) -> Iterator[None]:
    """Calls `tell` with the share of tasks that are done, while the body runs."""
    if tell is None:
        yield
    elif hasattr(session, "registerProgressHandler") and "connect" in type(session).__module__:
        handler = _handler(tell)
        session.registerProgressHandler(handler)
        try:
            yield
        finally:
            session.removeProgressHandler(handler)
            tell(1.0)
    else:
        done = threading.Event()
        poller = threading.Thread(
            target=_poll_progress, args=(session, tell, done), daemon=True
        )
        poller.start()
        try:
            yield
        finally:
            done.set()
            poller.join(5)
            tell(1.0)


def _handler(tell: Callable[[float], None]) -> Callable[..., None]:
    def handler(stages: Any, **_: Any) -> None:
        total = sum(stage.num_tasks for stage in stages or ())
        tell(sum(stage.num_completed_tasks for stage in stages) / total if total else 0.0)

    return handler


def _poll_progress(session: Any, tell: Callable[[float], None], done: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    while not done.wait(_POLL_SECONDS):
        try:
            stages = [
                tracker.getStageInfo(stage_id) for stage_id in tracker.getActiveStageIds()
            ]
            active = [stage for stage in stages if stage is not None]
            total = sum(stage.numTasks for stage in active)
            if total:
                tell(sum(stage.numCompletedTasks for stage in active) / total)
        except Exception:  # the driver is gone; the statement itself raises the error
            return
