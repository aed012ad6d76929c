"""Plugins for every test; here, not in tests/, so that doctests in src have them too."""

import gc

import pytest

# `tools.bits` imports `tools.scheduling`, which must be known as a plugin before that.
pytest_plugins = ["pytester", "tools.scheduling", "tools.bits", "tools.browser"]
pytest_plugins += ["tools.doctests", "tools.needs"]
pytest_plugins += ["tools.kernel_verdicts", "tools.server_children", "tools.sizes"]

# Nearly nothing that is made while tests are collected is garbage.
gc.disable()

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
    gc.set_threshold(20_000, 10, 10)  # trees and fractions by the thousand: a thirtieth
    gc.enable()
