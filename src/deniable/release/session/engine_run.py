"""An engine at work, and whatever goes wrong there: one failure, which tells nothing.

What went wrong is neither said nor kept: its words and frames might hold a number. So even the
exception's context is empty, and whoever interrupts gets an interruption without a trace of
what it cut short. The owner's log has the kind of failure, under the reference number.
"""

import logging
import secrets
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from deniable.engines.handover.aggregated import Aggregated
from deniable.engines.handover.withheld import Withheld
from deniable.errors import EngineFailed
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer import Answer, answered
from deniable.release.session.owner_log import noting

log = logging.getLogger("deniable.engine")


class Engine(Protocol):
    """What a session needs of an engine."""

    def schema(self, table: str) -> Mapping[str, str]: ...

    def run(self, plan: Plan) -> Withheld[Aggregated]: ...

    def close(self) -> None: ...


@runtime_checkable
class Streaming(Protocol):
    """An engine that hands its groups over in batches, so that all need not fit in memory."""

    def stream(self, plan: Plan) -> Withheld[Iterator[Aggregated]]: ...


@runtime_checkable
class Writing(Protocol):
    """An engine with words of its own; for what it has none, it refuses before the charge."""

    def check(self, plan: Plan) -> None: ...


def run(engine: Engine, plan: Plan, log_file: Path | None = None) -> Answer | BaseException:
    """The noisy answer to a plan; or the exception to raise, which has no past."""
    with noting(log_file):
        try:
            return _integers(engine, plan).reveal_to(partial(answered, plan))
        except EngineFailed as failure:
            return EngineFailed(failure.reference)
        except (KeyboardInterrupt, SystemExit) as halt:
            return type(halt)()
        except Exception as problem:
            reference = secrets.token_hex(4)
            log.error("reference %s: %s after the engine", reference, type(problem).__name__)
            return EngineFailed(reference)


def _integers(engine: Engine, plan: Plan) -> Withheld[Any]:
    """All at once where there are cells, which belong to groups of any batch."""
    if isinstance(engine, Streaming) and len(plan.statements) == 1:
        return engine.stream(plan)
    return engine.run(plan)
