"""What is spilt is private, and gone afterwards, whatever happens."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from deniable.engines.duckdb import spill as spilling
from deniable.engines.duckdb.engine import DuckDB
from deniable.engines.duckdb.spill import PREFIX, Spill
from deniable.errors import EngineFailed
from tests.engines.plans import plan, shown

ROWS = 1_500_000
# More than twice the allowance of groups: DuckDB cannot answer without its folder.
MANY = "SELECT repeat('x', 100) || a % 1400000 AS k0, COUNT(*) AS n FROM big GROUP BY 1"
FEW = plan("SELECT COUNT(*) AS n FROM big")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def modes(path):
    """The permissions of everything below a folder."""
    permissions = {}
    for entry in Path(path).rglob("*"):
        try:
            permissions[entry.name] = stat.S_IMODE(entry.stat().st_mode)
        except FileNotFoundError:  # deleted meanwhile
            continue
    return permissions


@pytest.mark.parametrize("inherited", [True, False])
def test_files_are_for_their_owner_alone(folder, monkeypatch, inherited):
    if not inherited:  # as where the file system knows no access lists
        monkeypatch.setattr(spilling, "_set_owner_only_acl", lambda path: False)
    before = os.umask(0)
    try:
        spill = Spill()
        with spill.private():
            (Path(spill.path) / "rows").write_text("secret")
        assert modes(spill.path) == {"in-use": 0o600, "rows": 0o600}
        assert stat.S_IMODE(Path(spill.path).stat().st_mode) == 0o700
        assert os.umask(0) == 0
    finally:
        os.umask(before)
    spill.clear()
    assert modes(spill.path) == {"in-use": 0o600}
    spill.remove()
    assert list(folder.iterdir()) == []


def test_the_mask_is_restored_by_the_last_user():
    before = os.umask(0o022)
    try:
        mask = spilling._Umask()
        with mask:
            with mask:
                assert os.umask(0o077) == 0o077
            assert os.umask(0o077) == 0o077
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_a_folder_goes_with_its_object(folder):
    spill = Spill()
    assert len(list(folder.iterdir())) == 1
    del spill
    assert list(folder.iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_the_living_are_spared(folder):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from deniable.engines.duckdb.spill import Spill\n"
        "spill = Spill(); (Path(spill.path) / 'rows').write_text('secret')\n"
        "print(spill.path, flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    killer = threading.Timer(120, process.kill)  # a hang fails instead of stopping the suite
    killer.start()
    try:
        left = Path(process.stdout.readline().strip())
        assert left.parent == folder
        living = Spill()
        assert (left / "rows").read_text() == "secret"  # it lives
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (left / "rows").exists()
        Spill().remove()
        assert not left.exists()
        assert Path(living.path).exists()
    finally:
        killer.cancel()
        process.kill()
        process.communicate()


def test_a_folder_is_spared_while_it_is_made(folder, monkeypatch):
    """Another process may open just before the new folder is locked."""
    lock = spilling.fcntl.flock

    def look_first(*arguments):
        monkeypatch.setattr(spilling.fcntl, "flock", lock)
        spilling._remove_abandoned()
        lock(*arguments)

    monkeypatch.setattr(spilling.fcntl, "flock", look_first)
    spill = Spill()
    assert Path(spill.path).is_dir()
    spilling._remove_abandoned()
    assert Path(spill.path).is_dir()


def test_folders_of_others_are_left_alone(folder):
    strange = folder / f"{PREFIX}strange"
    strange.mkdir()
    (strange / "file").write_text("not ours")
    target = folder / "target"
    target.mkdir()
    (target / "in-use").touch()
    (folder / f"{PREFIX}link").symlink_to(target)
    Spill().remove()
    assert (strange / "file").exists()
    assert (target / "in-use").exists()


@pytest.fixture
def engine(folder):
    sources = {"big": pa.table({"a": range(ROWS)})}
    with DuckDB(sources, memory=100_000_000) as opened:
        yield opened


def test_the_engine_spills_in_private_and_cleans_up(engine, folder):
    seen = {}
    before = os.umask(0o022)  # the usual one, under which others may read new files
    try:
        batches = engine.stream(plan(MANY, keys=["a"]))
        groups = batches.reveal_to(
            lambda all_: sum(watched(batch, folder, seen) for batch in all_)
        )
    finally:
        os.umask(before)
    assert groups == 1_400_000
    spilt = {name: mode for name, mode in seen.items() if name.endswith(".tmp")}
    assert spilt, "nothing was spilt, so nothing was shown"
    assert set(spilt.values()) == {0o600}
    assert not any(name.endswith(".tmp") for name in modes(folder))
    engine.close()
    assert list(folder.iterdir()) == []


def watched(batch, folder, seen):
    seen |= modes(folder)
    return batch.groups


@pytest.mark.parametrize("where", ["in the engine", "outside"])
def test_nothing_is_left_after_a_query_that_crashed(engine, folder, where):
    seen = {}
    last = "CASE WHEN k0 LIKE '%x1399999' THEN error('x') ELSE n END"
    failing = f"SELECT k0, {last} AS n FROM ({MANY})"
    query_plan = plan(failing if where == "in the engine" else MANY, keys=["a"])

    def read(batches):
        for batch in batches:
            watched(batch, folder, seen)
            if where == "outside":
                raise ZeroDivisionError

    with pytest.raises(EngineFailed if where == "in the engine" else ZeroDivisionError):
        engine.stream(query_plan).reveal_to(read)
    if where == "outside":  # else the failure may come before the first batch
        assert any(name.endswith(".tmp") for name in seen), "nothing was spilt"
    assert shown(engine.run(FEW)) == [(ROWS,)]
    assert not any(name.endswith(".tmp") for name in modes(folder))
    engine.close()
    assert list(folder.iterdir()) == []
