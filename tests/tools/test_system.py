import os
import shutil
from pathlib import Path

import pytest

from tools import system


@pytest.fixture
def programs(monkeypatch):
    """An empty table of programs, to be filled."""
    table: dict[str, system.Program] = {}
    monkeypatch.setattr(system, "PROGRAMS", table)
    return table


def test_find_looks_on_the_path_and_beside_it(programs, tmp_path):
    for version in ("9", "15"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "unicornd").touch()
    programs["sh"] = system.Program(("no-such-shell", "sh"), "dash")
    programs["unicorn"] = system.Program(("unicornd",), "unicorn", f"{tmp_path}/*/bin")
    programs["gnome"] = system.Program(("no-such-program",), "gnome")
    assert system.find("sh") == Path(shutil.which("sh") or "")
    assert system.find("unicorn") == tmp_path / "15" / "bin" / "unicornd"
    assert system.missing() == ["gnome"]


def test_nothing_is_installed_where_nothing_is_missing(programs, capsys):
    programs["sh"] = system.Program(("sh",), "dash")
    system.install()
    assert "all here" in capsys.readouterr().out


def test_who_cannot_install_is_told_so(programs, monkeypatch):
    programs["gnome"] = system.Program(("no-such-program",), "gnome")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", {"apt-get": "/usr/bin/apt-get"}.get)
    with pytest.raises(SystemExit, match="only root can install gnome; try `sudo make system`"):
        system.install()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match="not Debian; install gnome"):
        system.install()
