"""Runs an engine. Every failure becomes one error that depends on no row.

The original exception is not passed on: its message and its frames could hold a number. So the
new exception has no context, and an interruption has no traceback of the work it interrupted.
The owner's log has the kind of failure, under the reference number.
"""

import logging
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.withheld import Withheld
from deniable.errors import EngineFailed
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer import draw_answer
from deniable.release.answer.answer_table import Answer
from deniable.release.session.owner_log import log_to

log = logging.getLogger("deniable.engine")


class Engine(Protocol):
    """What a session needs from an engine."""

    @property
    def name(self) -> str: ...

    def schema(self, table: str) -> Mapping[str, str]: ...

    def run(self, plan: Plan) -> Withheld[ExactGroups]: ...

    def close(self) -> None: ...


@runtime_checkable
class StreamsGroups(Protocol):
    """An engine that returns its groups in batches, so they need not all fit in memory."""

    def stream(self, plan: Plan) -> Withheld[Iterator[ExactGroups]]: ...


@runtime_checkable
class ChecksPlans(Protocol):
    """An engine with its own dialect: it refuses what it cannot write, before the charge."""

    def check(self, plan: Plan) -> None: ...


def run(engine: Engine, plan: Plan, log_file: Path | None = None) -> Answer | BaseException:
    """The noisy answer to a plan; or the exception to raise, which has no context."""
    with log_to(log_file):
        try:
            return _run_engine(engine, plan).reveal_to(partial(draw_answer, plan))
        except EngineFailed as failure:
            return EngineFailed(failure.reference)
        except (KeyboardInterrupt, SystemExit) as halt:
            return type(halt)()
        except Exception as problem:
            reference = secrets.token_hex(4)
            log.error("reference %s: %s after the engine", reference, type(problem).__name__)
            return EngineFailed(reference)


def _run_engine(engine: Engine, plan: Plan) -> Withheld[Any]:
    """In batches if possible; all at once if there are cells, which belong to any batch."""
    if isinstance(engine, StreamsGroups) and len(plan.statements) == 1:
        return engine.stream(plan)
    return engine.run(plan)
