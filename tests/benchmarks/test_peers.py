"""Peers run in processes of their own; what fails is said, not raised."""

import sys

import pytest

from benchmarks import peers


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Stands for the peer's process."""

    def write(text):
        file = tmp_path / "peer.py"
        file.write_text(text)
        monkeypatch.setattr(peers, "__file__", str(file))

    return write


def test_the_last_word_is_the_time(script):
    script("print('loading'); print(1.5)")
    assert peers.seconds("diffprivlib-rows", "rows.parquet", 10) == 1.5


def test_a_failure_is_told(script):
    script("raise SystemExit('no such module')")
    assert peers.seconds("diffprivlib-rows", "x", 10) == "failed (no such module)"


def test_opendp_sees_its_own_folder(script, monkeypatch, tmp_path):
    (tmp_path / "opendp").mkdir()
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    script(f"import sys; print(float({str(tmp_path)!r} in sys.path))")
    assert peers.seconds("opendp-rows", "x", 10) == 1.0
    monkeypatch.setattr(peers, "installed", lambda: False)
    assert "could not be installed" in peers.seconds("opendp-rows", "x", 10)


def test_it_is_installed_once(monkeypatch, tmp_path):
    commands = []

    class Run:
        returncode = 0

    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setattr(
        peers.subprocess, "run", lambda words, **_: commands.append(words) or Run
    )
    assert peers.installed()
    assert commands[0][0] == sys.executable
    (tmp_path / "opendp").mkdir()
    assert peers.installed()
    assert len(commands) == 1


def test_main_prints_how_long_it_took(monkeypatch, capsys):
    seen = []
    monkeypatch.setitem(
        peers.PEERS, "made-up", lambda file, groups: lambda: seen.append(groups)
    )
    peers.main("made-up", "rows.parquet", "7")
    assert seen == [7]
    assert float(capsys.readouterr().out) >= 0
