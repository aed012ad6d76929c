"""Which tests a worker gets at once: all cases of one test function, or one `xdist_group`.

pytest-xdist gives out single cases, and for each of them looks through all that it has given
out so far. With many thousands of cases the workers wait for it. Cases of one function also
share what their fixtures have made. Tests that use a fixture of their module are one group:
pytest drops such a fixture when a test of another module comes next, so a worker that got
these functions one by one, among others, would make it again for each.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from _pytest.nodeid import NodeId
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]

_SHARED = frozenset({"class", "module", "package"})


class Names(list[str]):
    """The names of all tests, whose places are known: pytest-xdist asks for the place of each
    test, and a list would compare it with all names before it.

    >>> Names(["a", "b"]).index("b")
    1
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names)
        self._places = {name: place for place, name in enumerate(self)}

    def index(self, name: str, *_: Any) -> int:
        """The place of a test's name."""
        return self._places[name]


class FunctionScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """As `--dist loadgroup`, but the cases of one function stay together."""

    def add_node_collection(self, node: object, collection: Sequence[str]) -> None:
        super().add_node_collection(node, Names(collection))

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid, super()._split_scope(nodeid))

    def mark_test_complete(self, node: object, item_index: int, duration: float = 0) -> None:
        """Forgets what is done, because the work of a worker is counted after each test."""
        name = self.registered_collections[node][item_index]
        work, scope = self.assigned_work[node], self._split_scope(name)
        work[scope][name] = True
        if all(work[scope].values()):
            del work[scope]
        self._reschedule(node)


def scope_of(nodeid: str, group: str) -> str:
    """The name of the tests that go to a worker together; without a group, `group` is the
    whole name of the test.

    >>> name = "tests/exact/test_bits.py::test_counts"
    >>> scope_of(f"{name}[a::b]", f"{name}[a::b]") == name
    True
    >>> scope_of(f"{name}[1]@spark", "spark")
    'spark'
    """
    return nodeid.partition("[")[0] if group == nodeid else group


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Writes the group of a test after its name, where the scheduler looks for it.

    pytest-xdist 3.8 does this too, but in a field that pytest 9.2 no longer reads, so that
    groups were torn apart in silence (its issue 1386).
    """
    if not config.getoption("loadgroup", False):  # what `--dist` is called in a worker
        return
    for item in items:
        group = group_of(item)
        if group and not item.nodeid.endswith(f"@{group}"):
            item._id = NodeId.parse(f"{item.nodeid}@{group}")


def group_of(item: pytest.Item) -> str:
    """The tests that must follow one another on one worker; empty if it does not matter."""
    groups = {str(mark.args[0]) for mark in item.iter_markers("xdist_group")}
    if groups:
        return "_".join(sorted(groups))
    return item.path.relative_to(item.config.rootpath).as_posix() if _shares(item) else ""


def name_without_group(item: pytest.Item) -> str:
    """A test's name as it is without workers."""
    return item.nodeid.removesuffix(f"@{group_of(item)}")


def _shares(item: pytest.Item) -> bool:
    """Whether a test uses a fixture that lives for its class, module or folder."""
    fixtures = getattr(item, "_fixtureinfo", None)
    known = fixtures.name2fixturedefs if fixtures else {}
    return any(makers[-1].scope in _SHARED for makers in known.values() if makers)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: object
) -> FunctionScheduling | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    return FunctionScheduling(config, log)
