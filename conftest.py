"""Plugins for every test; here, not in tests/, so that doctests in src have them too."""

import gc

import pytest

pytest_plugins = ["pytester", "tools.bits", "tools.browser", "tools.needs", "tools.scheduling"]
pytest_plugins += ["tools.sizes"]

# Contracts are imported by tests, not collected; their assertions explain themselves too.
pytest.register_assert_rewrite("tests")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Workers must agree on the names of tests, so no name may hold an address in memory."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(
                f"Give this test an `id` that does not change: {item.nodeid}"
            )


def pytest_collection_finish() -> None:
    """What was collected stays to the end: looking for garbage among it takes an eighth."""
    gc.freeze()
