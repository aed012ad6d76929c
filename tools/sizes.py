"""Long proofs, small in `make test` and at full size in `make soak`.

    def test_tails(size):
        draws = sampler(size(small=10_000, full=10_000_000, what="draws of discrete Laplace"))

`--full` or DENIABLE_FULL=1 chooses full size, for Hypothesis too. The run ends by stating the
sizes that it used; they travel on the tests' reports, so that workers need no extra channel.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from typing import Protocol

import hypothesis
import pytest
from _pytest.terminal import TerminalReporter

EXAMPLES = {"small": 50, "full": 2_000}

_full = pytest.StashKey[bool]()
_unreported = pytest.StashKey[list[str]]()


class Size(Protocol):
    """The type of the `size` fixture."""

    def __call__(self, *, small: int, full: int, what: str) -> int: ...


@pytest.fixture(scope="session")
def size(pytestconfig: pytest.Config) -> Size:
    """`size(small=..., full=..., what="draws of ...")`: the number to use in this run."""

    def choose(*, small: int, full: int, what: str) -> int:
        chosen = full if pytestconfig.stash[_full] else small
        pytestconfig.stash[_unreported].append(f"{chosen:,} {what}")
        return chosen

    return choose


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run every test at full size")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_full] = bool(config.getoption("full") or os.environ.get("DENIABLE_FULL"))
    config.stash[_unreported] = []
    # No deadline and no complaint of slowness: other work on the machine is not a bug.
    slow = [hypothesis.HealthCheck.too_slow]
    for name, examples in EXAMPLES.items():
        hypothesis.settings.register_profile(
            name,
            max_examples=examples,
            deadline=None,
            suppress_health_check=slow,
            derandomize=name == "small",  # as tools/bits.py fixes all other bits
            database=None,
        )
    hypothesis.settings.load_profile(_name(config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    used = item.config.stash[_unreported]
    report.user_properties += [("size", text) for text in used]
    used.clear()
    return report


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    used: dict[str, set[str]] = defaultdict(set)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", []):
                if name == "size":
                    used[report.nodeid.partition("::")[0]].add(text)
    terminalreporter.section(f"sizes: {_name(config)}")
    for file, texts in sorted(used.items()):
        terminalreporter.line(f"{file}: {'; '.join(sorted(texts))}")
    terminalreporter.line(f"Hypothesis: {EXAMPLES[_name(config)]:,} examples a property")
    if not config.stash[_full]:
        terminalreporter.line("`make soak` runs them at full size")


def _name(config: pytest.Config) -> str:
    return "full" if config.stash[_full] else "small"
