"""Fair timing: contestants take turns, so that a busy moment slows them all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

REPEATS = 9


@dataclass(frozen=True)
class Row:
    """One line of the results: what was measured, for us and for them, and the verdict."""

    what: str
    unit: str
    ours: float | None
    theirs: float | None
    peer: str
    ratio: float | None = None
    target: str = ""
    reached: bool | None = None
    note: str = ""


def medians(
    contestants: Mapping[str, Callable[[], float]], rounds: int = REPEATS
) -> dict[str, float]:
    """The median of what each contestant returns, over nine rounds in which each has a turn."""
    turns = [{name: run() for name, run in contestants.items()} for _ in range(rounds)]
    return {name: statistics.median(turn[name] for turn in turns) for name in contestants}


def speed(draw: Callable[[int], object], draws: int) -> Callable[[], float]:
    """A contestant that returns millions of draws a second; its tables are built first."""
    draw(1000)

    def run() -> float:
        start = time.perf_counter()
        draw(draws)
        return draws / (time.perf_counter() - start) / 1e6

    return run
