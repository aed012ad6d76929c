"""Examples in docstrings start without a look at every source file.

`doctest` prepares its debugger before each example, which asks the system about each source
file that Python has ever shown a line of: several hundred files, a thousand times. Sources do
not change while tests run.
"""

import linecache
from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    if not isinstance(item, pytest.DoctestItem):
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linecache, "checkcache", lambda filename=None: None)
        return (yield)
