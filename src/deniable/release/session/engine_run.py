"""Runs an engine. Every failure becomes one error that depends on no row.

The original exception is not passed on: its message and its frames could hold a number. So the
new exception has no context, and an interruption has no traceback of the work it interrupted.
The owner's log has the kind of failure, under the reference number.
"""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.engines.handover.withheld import Withheld
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import EngineFailed
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer import draw_answer
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.drawn_noise import DrawnNoise
from deniable.release.session.owner_log import log_to

log = logging.getLogger("deniable.engine")
T = TypeVar("T")
KeptCounts: TypeAlias = dict[tuple[object, ...], Withheld[ExactGroups]]  # joint cells


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


@runtime_checkable
class StoresRows(Protocol):
    """An engine that may keep the rows that a plan stores, for the plans that follow."""

    def forget_stored(self) -> None: ...


def forget_stored(engine: Engine) -> None:
    """Drops the rows that plans have stored in an engine."""
    if isinstance(engine, StoresRows):
        engine.forget_stored()


def runs_plan_text(engine: Engine) -> bool:
    """Whether an engine runs the text of a plan, which the kernel reads, or one of its own."""
    return isinstance(engine, RunsPlanText) and engine.runs_plan_text


def run(
    engine: Engine,
    written: WrittenPlan,
    log_file: Path | None = None,
    kept: KeptCounts | None = None,
    *,
    noise_first: bool = False,
) -> Answer | BaseException:
    """The noisy answer to a plan; or the exception to raise, which has no context. Joint cells
    that were counted before, in the same run, are in `kept`, and are not counted again. With
    `noise_first`, noise whose length is public is drawn before the engine starts."""

    def work() -> Answer:
        draw = partial(draw_answer, written.plan)
        if noise_first:
            draw = partial(draw, noise=DrawnNoise(written.plan))
        return _run_engine(engine, written, kept).reveal_to(draw)

    return _handed_over(work, log_file)


def measure(
    engine: Engine,
    written: WrittenPlan,
    step: Callable[[ExactGroups], T],
    log_file: Path | None,
) -> T | BaseException:
    """What a step makes of the exact integers, such as noisy ones; or the exception to raise.

    The step is total: whatever the integers are, it returns."""
    return _handed_over(lambda: engine.run(written).reveal_to(step), log_file)


def _handed_over(work: Callable[[], T], log_file: Path | None) -> T | BaseException:
    with log_to(log_file):
        try:
            return work()
        except EngineFailed as failure:
            return EngineFailed(failure.reference)
        except (KeyboardInterrupt, SystemExit) as halt:
            return type(halt)()
        except Exception as problem:
            reference = secrets.token_hex(4)
            log.error("reference %s: %s after the engine", reference, type(problem).__name__)
            return EngineFailed(reference)


def _run_engine(engine: Engine, written: WrittenPlan, kept: KeptCounts | None) -> Withheld[Any]:
    """In batches if possible; all at once if there are cells, which belong to any batch."""
    joint = None if kept is None else joint_key(written)
    if kept is not None and joint is not None:
        if joint not in kept:
            kept[joint] = engine.run(written)
        return kept[joint]
    if isinstance(engine, StreamsGroups) and len(written.statements) == 1:
        return engine.stream(written)
    return engine.run(written)


def joint_key(written: WrittenPlan) -> tuple[object, ...] | None:
    """All that the counts of joint cells depend on: their statement as the kernel reads it and
    as the engine runs it, with its parameters, and the numbers of cells to which they are cut.
    None if a plan has no such statement, or others too."""
    distances = written.plan.distances
    if distances is None or [statement.kind for statement in written.statements] != ["joint"]:
        return None
    (statement,) = written.statements
    parameters = repr(sorted(statement.parameters.items()))
    return (
        str(distances.sql),
        tuple(distances.sizes),
        statement.before,
        statement.sql,
        parameters,
    )
