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
from deniable.engines.handover.written_plan import WrittenPlan
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

    def prepare(self, plan: Plan) -> WrittenPlan:
        """The plan's final text; raises Unsupported if the engine cannot run it."""

    def run(self, written: WrittenPlan, /) -> Withheld[ExactGroups]: ...

    def close(self) -> None: ...


@runtime_checkable
class RunsPlanText(Protocol):
    """An engine that knows whether it runs the plan's own text, which the kernel reads."""

    runs_plan_text: bool


@runtime_checkable
class StreamsGroups(Protocol):
    """An engine that returns its groups in batches, so they need not all fit in memory."""

    def stream(self, written: WrittenPlan, /) -> Withheld[Iterator[ExactGroups]]: ...


def runs_plan_text(engine: Engine) -> bool:
    """Whether an engine runs the text of a plan, which the kernel reads, or one of its own."""
    return isinstance(engine, RunsPlanText) and engine.runs_plan_text


def run(
    engine: Engine, written: WrittenPlan, log_file: Path | None = None
) -> Answer | BaseException:
    """The noisy answer to a plan; or the exception to raise, which has no context."""
    with log_to(log_file):
        try:
            return _run_engine(engine, written).reveal_to(partial(draw_answer, written.plan))
        except EngineFailed as failure:
            return EngineFailed(failure.reference)
        except (KeyboardInterrupt, SystemExit) as halt:
            return type(halt)()
        except Exception as problem:
            reference = secrets.token_hex(4)
            log.error("reference %s: %s after the engine", reference, type(problem).__name__)
            return EngineFailed(reference)


def _run_engine(engine: Engine, written: WrittenPlan) -> Withheld[Any]:
    """In batches if possible; all at once if there are cells, which belong to any batch."""
    if isinstance(engine, StreamsGroups) and len(written.statements) == 1:
        return engine.stream(written)
    return engine.run(written)
