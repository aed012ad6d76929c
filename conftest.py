"""Plugins for every test; here, not in tests/, so that doctests in src have them too."""

import pytest

pytest_plugins = ["pytester", "tools.needs", "tools.sizes"]

# Contracts are imported by tests, not collected; their assertions explain themselves too.
pytest.register_assert_rewrite("tests")
