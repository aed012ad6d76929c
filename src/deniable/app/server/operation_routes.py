"""Health, readiness and metrics, for whatever watches the server. They tell nothing about data.

Healthy means that the process answers. Ready means that it can also use its database and its
ledgers. Neither says why not: that is in the log.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fastapi import APIRouter
from starlette.responses import JSONResponse, PlainTextResponse, Response

from deniable.errors import DeniableError

_KEPT = 1.0  # seconds that a result is kept, so that watching costs nothing
LOG = logging.getLogger("deniable.server")


def operation_router(
    checks: Sequence[Callable[[], object]],
    *,
    facts: Callable[[], Mapping[str, int]] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> APIRouter:
    """The routes of health and readiness; and of metrics, if there are `facts`, which must be
    public. A check fails by an error of ours."""
    router, routes = APIRouter(), _OperationRoutes(checks, clock)
    if facts is not None:
        router.add_api_route("/metrics", partial(_show_metrics, facts), methods=["GET"])
    router.add_api_route("/health", routes.show_health, methods=["GET"])
    router.add_api_route("/ready", routes.show_readiness, methods=["GET"])
    return router


def _show_metrics(facts: Callable[[], Mapping[str, int]]) -> Response:
    """Numbers in the form that Prometheus reads. None of them depends on a row or on a time."""
    lines = [f"deniable_{name} {value}\n" for name, value in facts().items()]
    return PlainTextResponse("".join(lines))


class _OperationRoutes:
    """What each route answers."""

    def __init__(
        self, checks: Sequence[Callable[[], object]], clock: Callable[[], float]
    ) -> None:
        self._checks, self._clock = checks, clock
        self._lock = threading.Lock()
        self._last_check: tuple[float, bool] | None = None

    async def show_health(self) -> Response:
        return JSONResponse({"healthy": True})

    def show_readiness(self) -> Response:
        with self._lock:
            now = self._clock()
            if self._last_check is None or now - self._last_check[0] >= _KEPT:
                self._last_check = now, self._check()
            ready = self._last_check[1]
        return JSONResponse({"ready": ready}, status_code=200 if ready else 503)

    def _check(self) -> bool:
        try:
            for check in self._checks:
                check()
        except DeniableError as problem:
            LOG.error("not ready: %s", type(problem).__name__)
            return False
        return True
