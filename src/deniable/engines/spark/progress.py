"""How far a statement has come in Spark: the share of its tasks that are done.

A share says nothing about a row that the duration does not say as well; it goes to whoever
runs the engine, never into a release.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_POLL_SECONDS = 0.2  # between two looks


@contextmanager
def report_progress(session: Any, tell: Callable[[float], None] | None) -> Iterator[None]:
    """Tells the share of tasks that are done, while the session is at work."""
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
        looking = threading.Thread(
            target=_poll_progress, args=(session, tell, done), daemon=True
        )
        looking.start()
        try:
            yield
        finally:
            done.set()
            looking.join(5)
            tell(1.0)


def _handler(tell: Callable[[float], None]) -> Callable[..., None]:
    def handler(stages: Any, **_: Any) -> None:
        whole = sum(stage.num_tasks for stage in stages or ())
        tell(sum(stage.num_completed_tasks for stage in stages) / whole if whole else 0.0)

    return handler


def _poll_progress(session: Any, tell: Callable[[float], None], done: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    while not done.wait(_POLL_SECONDS):
        try:
            stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
            known = [stage for stage in stages if stage is not None]
            whole = sum(stage.numTasks for stage in known)
            if whole:
                tell(sum(stage.numCompletedTasks for stage in known) / whole)
        except Exception:  # the driver is gone; the statement itself will say so
            return
