"""`audit.test` and `audit.prove` are functions, although folders have these names too."""

import subprocess
import sys

import pytest

MODULES = "import deniable.audit.test.features, deniable.audit.prove.datasets"
CODE = """
import deniable as dp
first = dp.audit.test, dp.audit.prove
import deniable.audit.prove.prover, deniable.audit.test.blackbox
from deniable.audit import prove, test
assert first == (test, prove) == (dp.audit.test, dp.audit.prove)
print(*(type(name).__name__ for name in first))
"""


@pytest.mark.parametrize("code", [MODULES + CODE, CODE + MODULES], ids=["before", "after"])
def test_names_of_folders_are_functions_in_a_fresh_interpreter(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert run.stdout.decode().split() == ["function", "function"], run.stderr.decode()
