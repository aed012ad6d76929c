import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deniable.app.cli import main

ROOT = Path(__file__).parents[4]
TEXT = """id = "s"
title = "Test"
epsilon = 2
[[questions]]
id = "a"
kind = "yes-no"
text = "Have you?"
[[questions]]
id = "b"
kind = "single-choice"
private = false
options = ["x", "y"]
text = "Which?"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with a questionnaire, which is also the working one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    settings = "deniable.surveys.collect.store.database.SQLITE_SETTINGS"
    monkeypatch.setattr(settings, ("PRAGMA synchronous = OFF",))
    (tmp_path / "s.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """`run("survey", "close", "s.toml")`: (exit status, standard output, standard error)."""

    def command(*words):
        with pytest.raises(SystemExit) as left:
            main(words)
        told = capsys.readouterr()
        return left.value.code, told.out, told.err

    return command


@pytest.fixture
def serve(folder):
    """`serve("--mode", "pass")`: serves the questionnaire, and says what it printed."""
    started = []

    def start(*options):
        program = "from deniable.app.cli import main; main()"
        command = [sys.executable, "-c", program, "survey", "serve", "s.toml", "--port", "0"]
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        process = subprocess.Popen([*command, *options], env=environment, cwd=folder, **how)
        started.append(process)
        lines = [process.stdout.readline().split() for _ in range(3)]
        told = {words[0].rstrip(":"): words[1] for words in lines if words}
        assert told, process.stderr.read()
        return told

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.communicate()
