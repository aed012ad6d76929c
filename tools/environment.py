"""Makes the environment `.venv` and installs Deniable into it, on a machine with only Python.

    python3 tools/environment.py [extra ...]

Where `venv` works, that; where it lacks ensurepip (Debian without python3-venv), an empty
environment filled by the machine's own pip; where it is missing altogether, virtualenv, kept
inside `.venv` too. Nothing is written outside the repository. An environment that works is
used again. The syntax is kept old, so that an old Python reaches the sentence that says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"


def main(extras: list[str]) -> None:
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:2]))
        stop(
            f"Deniable needs Python 3.11 or newer, and {sys.executable} is {version}; "
            "name another with `make PYTHON=python3.12 ...`."
        )
    if not works(PYTHON, "-m", "pip", "--version"):
        create()
    say(f"installing Deniable and its packages into .venv ({', '.join(['runtime', *extras])})")
    target = f"{ROOT}[{','.join(extras)}]" if extras else ROOT
    quiet = ["--quiet", "--disable-pip-version-check"]
    if not run(PYTHON, "-m", "pip", "install", *quiet, "--editable", target):
        stop("pip could not install the packages; its message is above.")
    for name in ["runtime", *extras]:
        (VENV / f"installed-{name}").touch()


def create() -> None:
    if not works(sys.executable, "-m", "pip", "--version"):
        stop(f"{sys.executable} has no pip; on Debian, `apt-get install python3-pip` adds it.")
    ways = {
        "venv": with_venv,
        "venv, and pip from this machine's own": with_bare_venv,
        "virtualenv, as this Python has no venv": with_virtualenv,
    }
    for name, way in ways.items():
        shutil.rmtree(VENV, ignore_errors=True)
        if way() and works(PYTHON, "-m", "pip", "--version"):
            say(f"made .venv with {name}")
            return
    stop("no way to make an environment worked; the last message is above.")


def with_venv() -> bool:
    return works(sys.executable, "-m", "venv", VENV)


def with_bare_venv() -> bool:
    host = [sys.executable, "-m"]
    return works(*host, "venv", "--without-pip", VENV) and works(
        *host, "pip", "--python", PYTHON, "install", "pip"
    )


def with_virtualenv() -> bool:
    host, maker = [sys.executable, "-m"], VENV / "virtualenv"
    return run(*host, "pip", "install", "--quiet", "--target", maker, "virtualenv") and run(
        *host, "virtualenv", "--quiet", VENV, env={**os.environ, "PYTHONPATH": str(maker)}
    )


def works(*command: str | Path) -> bool:
    """Runs a command whose output nobody needs; False if it fails or cannot start."""
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def run(*command: str | Path, env: dict[str, str] | None = None) -> bool:
    return subprocess.call(command, env=env) == 0


def say(text: str) -> None:
    print(f"environment: {text}", flush=True)


def stop(sentence: str) -> None:
    sys.exit(f"environment: {sentence}")


if __name__ == "__main__":
    main(sys.argv[1:])
