"""The room's face, and what it costs to open."""

import subprocess
import sys

import deniable.privacy


def test_every_public_name_is_there_and_documented():
    for name in set(deniable.privacy.__all__) - {"Neighbors"}:
        assert getattr(deniable.privacy, name).__doc__


def test_importing_it_does_not_import_scipy():
    code = "import sys, deniable.privacy; print('scipy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
