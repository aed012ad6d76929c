"""One process runs tests again and again, and each time with the code as it is then."""

import os
import shutil
import time
from pathlib import Path

import pytest

from tools import warm_tests
from tools.warm_worker import FAILED, WarmWorker

TESTS = """
import atexit, os, subprocess, sys
from pathlib import Path
import pytest
import deniable.value

def test_right():
    assert deniable.value.VALUE == 1

def test_of_other_things():
    assert "tools" not in sys.modules

def test_temporary(tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "left").touch()

def test_a_child_left():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path("child").write_text(str(child.pid))
    child.returncode = 0  # no complaint that it runs

def test_at_the_end():
    atexit.register(Path("ended").touch)

def test_without_end():
    while True:
        os.read(os.pipe()[0], 1)

def test_death():
    os._exit(3)

def test_that_ends_badly():
    Path("broken").touch()
    assert False
"""
AT_THE_END = """
from pathlib import Path

def pytest_unconfigure():
    if Path("broken").exists():
        Path("broken").unlink()
        raise ResourceWarning
"""


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "src" / "deniable").mkdir(parents=True)
    (folder / "src" / "deniable" / "__init__.py").touch()
    (folder / "src" / "deniable" / "value.py").write_text("VALUE = 1\n")
    (folder / "test_value.py").write_text(TESTS)
    (folder / "conftest.py").write_text(AT_THE_END)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warm_tests, "PACKAGES", ["pytest"])
        with WarmWorker(folder) as worker:
            yield worker


def run(worker, *names, first=True, longest=600):
    return worker.run(
        [f"test_value.py::{name}" for name in names], first=first, longest=longest
    )


def test_each_run_reads_the_code_again(worker):
    file = worker.folder / "src" / "deniable" / "value.py"
    assert run(worker, "test_right").code == 0
    file.write_text("VALUE = 2\n")
    os.utime(file, (2e9, 2e9))
    reply = run(worker, "test_right", "test_of_other_things")
    assert (reply.code, reply.tests) == (FAILED, {"test_value.py::test_right": "failed"})
    reply = run(worker, "test_right", "test_of_other_things", first=False)
    assert reply.tests["test_value.py::test_of_other_things"] == "passed"
    file.write_text("VALUE = 1\n")
    os.utime(file, (1e9, 1e9))
    assert run(worker, "test_right").code == 0


def test_nothing_is_left_of_a_run(worker):
    assert run(worker, "test_temporary").code == run(worker, "test_temporary").code == 0
    assert run(worker, "test_a_child_left", "test_at_the_end").code == 0
    assert (worker.folder / "ended").exists()
    status = Path(f"/proc/{(worker.folder / 'child').read_text()}/status")
    while status.exists() and "zombie" not in status.read_text():
        time.sleep(0)


@pytest.mark.parametrize(("name", "longest"), [("test_without_end", 0.5), ("test_death", 600)])
def test_what_does_not_end_is_said_to(worker, name, longest):
    assert run(worker, name, longest=longest).code is None
    assert run(worker, "test_right").code == 0


def test_a_test_that_fails_and_breaks_the_end_of_pytest_has_failed(worker):
    reply = run(worker, "test_that_ends_badly")
    assert (reply.code, list(reply.tests.values())) == (FAILED, ["failed"])


def test_a_process_that_cannot_go_on_says_why(tmp_path):
    with (
        WarmWorker(tmp_path) as worker,
        pytest.raises(RuntimeError, match="KeyError: 'longest'"),
    ):
        worker.ask({})


def test_with_all_packages_and_our_settings_a_test_runs(tmp_path):
    """A plugin that was imported too early is a warning, which our settings make an error."""
    shutil.copy(Path(warm_tests.__file__).parents[1] / "pyproject.toml", tmp_path)
    text = "import pytest\n\n@pytest.mark.xdist_group('a')\ndef test_true():\n    assert True\n"
    (tmp_path / "test_value.py").write_text(text)
    with WarmWorker(tmp_path) as worker:
        reply = run(worker, "test_true")
        assert (reply.code, list(reply.tests.values())) == (0, ["passed"]), worker._last_words()
