import sys
from pathlib import Path

import pytest

from tools import environment


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine whose commands succeed unless they contain one of `broken`."""
    venv = tmp_path / ".venv"
    monkeypatch.setattr(environment, "VENV", venv)
    monkeypatch.setattr(environment, "PYTHON", venv / "bin" / "python")

    class Machine:
        broken: tuple[str, ...] = ()

        def execute(self, *command, env=None):
            text = " ".join(map(str, command))
            if any(part in text for part in self.broken) or (
                Path(command[0]) == environment.PYTHON and not venv.exists()
            ):
                return False
            venv.mkdir(exist_ok=True)
            return True

    machine = Machine()
    monkeypatch.setattr(environment, "works", machine.execute)
    monkeypatch.setattr(environment, "run", machine.execute)
    return machine


@pytest.mark.parametrize(
    ("broken", "way"),
    [
        ((), "with venv\n"),
        (("-m venv /",), "with venv, and pip from this machine's own"),
        (("-m venv",), "with virtualenv"),
    ],
)
def test_each_kind_of_python_gets_an_environment(machine, capsys, broken, way):
    machine.broken = broken
    environment.main(["dev"])
    assert way in capsys.readouterr().out
    assert {file.name for file in environment.VENV.iterdir()} == {
        "installed-runtime",
        "installed-dev",
    }


def test_an_environment_that_works_is_used_again(machine, capsys):
    environment.VENV.mkdir()
    environment.main([])
    assert "made .venv" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        (("-m pip --version",), "has no pip"),
        (("-m venv", "-m virtualenv"), "no way to make an environment worked"),
        (("--editable",), "pip could not install the packages"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(machine, broken, sentence):
    machine.broken = broken
    with pytest.raises(SystemExit, match=sentence):
        environment.main([])


def test_an_old_python_is_told_so(machine, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer, and .* is 3\.9"):
        environment.main([])
