"""Tests that need a system program: `@pytest.mark.needs("chromium", "chromedriver")`.

Where one is missing the test is skipped, and the run ends with what was skipped and the
command that adds it. With CI set (to anything but nothing) a skip of any kind is a failure.
"""

import os
from collections import Counter
from collections.abc import Generator
from typing import TypeVar

import pytest
from _pytest.terminal import TerminalReporter

from tools.system import COMMAND, PROGRAMS, find

Report = pytest.TestReport | pytest.CollectReport
R = TypeVar("R", pytest.TestReport, pytest.CollectReport)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if program not in PROGRAMS:
                raise pytest.UsageError(
                    f"`needs` knows {', '.join(PROGRAMS)} (tools/system.py). Found {program!r}."
                )
            if find(program) is None:
                pytest.skip(f"{program} is missing; `{COMMAND}` adds it")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _no_skip_in_ci((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _no_skip_in_ci((yield))


def _no_skip_in_ci(report: R) -> R:
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.longrepr = f"With CI set, nothing may be skipped: {_reason(report)}."
        report.outcome = "failed"
    return report


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    skipped = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.section("skipped")
        for reason, count in sorted(skipped.items()):
            terminalreporter.line(f"{count} x {reason}")


def _reason(report: Report) -> str:
    where = report.longrepr
    return where[2].removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)
