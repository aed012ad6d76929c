"""Long proofs, small in `make test` and at full size in `make soak`.

    def test_tails(size):
        draws = sampler(size(small=10_000, full=10_000_000, what="draws of discrete Laplace"))

A test may state what it measured; at full size the run ends with these figures, too:

    def test_errors(figure):
        figure("wrong in 0.0412 of 10,000")

A test with many cases, each slow, may run some of them:

    @pytest.mark.one_in(3)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_shapes(shape): ...

`--full` or DENIABLE_FULL=1 chooses full size, for Hypothesis too. A case that is asked for by
its name is always run. The run ends by stating the sizes that it used; they travel on the
tests' reports, so that workers need no extra channel.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Generator
from typing import Protocol

import hypothesis
import pytest
from _pytest.terminal import TerminalReporter

EXAMPLES = {"small": 25, "full": 2_000}

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


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """`figure("wrong in 0.0412 of 10,000")`: a measured figure, for the end of the run."""

    def state(text: str) -> None:
        print(text)
        record_property("figure", text)

    return state


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run every test at full size")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_full] = bool(config.getoption("full") or os.environ.get("DENIABLE_FULL"))
    config.stash[_unreported] = []
    config.addinivalue_line("markers", "one_in(n): one case in n; all of them at full size")
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what `one_in` says, and notes on the other cases how many there are."""
    if config.stash[_full] or any("::" in argument for argument in config.args):
        return
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("one_in"):
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out: list[pytest.Item] = []
    for all_cases in cases.values():
        marker = all_cases[0].get_closest_marker("one_in")
        step = marker.args[0] if marker else 1
        for item in all_cases[::step]:
            kept = len(all_cases[::step])
            text = f"{kept:,} of {len(all_cases):,} cases of {item.name.partition('[')[0]}"
            item.user_properties.append(("size", text))
        left_out += [item for place, item in enumerate(all_cases) if place % step]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]


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
    figures: set[str] = set()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", []):
                if name == "size":
                    used[report.nodeid.partition("::")[0]].add(text)
                elif name == "figure":
                    figures.add(f"{report.nodeid}: {text}")
    if config.stash[_full] and figures:
        terminalreporter.section("figures")
        for line in sorted(figures):
            terminalreporter.line(line)
    terminalreporter.section(f"sizes: {_name(config)}")
    for file, texts in sorted(used.items()):
        terminalreporter.line(f"{file}: {'; '.join(sorted(texts))}")
    terminalreporter.line(f"Hypothesis: {EXAMPLES[_name(config)]:,} examples a property")
    if not config.stash[_full]:
        terminalreporter.line("`make soak` runs them at full size")


def _name(config: pytest.Config) -> str:
    return "full" if config.stash[_full] else "small"
