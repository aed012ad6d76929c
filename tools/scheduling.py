"""Which tests a worker gets at once: all cases of one test function, or one `xdist_group`.

pytest-xdist gives out single cases, and for each of them looks through all that it has given
out so far. With eleven thousand cases the workers wait for it. Cases of one function also
share what their fixtures have made.
"""

import pytest
from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]


class FunctionScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """As `--dist loadgroup`, but the cases of one function stay together."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid, super()._split_scope(nodeid))


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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: object
) -> FunctionScheduling | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    return FunctionScheduling(config, log)
