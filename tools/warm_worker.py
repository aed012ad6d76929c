"""A process that runs the tests of a copy of the project, one request after the other."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tools import warm_tests

FAILED = 1  # what pytest returns if tests ran and some failed; not if it could not even start


@dataclass(frozen=True, slots=True)
class Reply:
    """What pytest returned (None if it did not end), what became of each test, and when."""

    code: int | None
    tests: dict[str, str]
    seconds: float


class WarmWorker:
    """Runs tests with the code of `folder` (see tools/warm_tests.py)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = tempfile.mkdtemp()
        environment = os.environ | {"PYTHONPATH": str(folder / "src")}
        environment["OPENBLAS_NUM_THREADS"] = "1"  # threads do not survive a fork
        # Compiled code is kept, whatever the machine says: each mutant changes one file.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.log = (Path(self.temporary) / "log").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, warm_tests.__file__, *warm_tests.PACKAGES],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def run(self, tests: Sequence[str], *, first: bool, longest: float) -> Reply:
        """What pytest says of some tests; with `first` it stops at the first that fails."""
        request = {
            "tests": tests,
            "first": first,
            "longest": longest,
            "folder": f"{self.temporary}/t",
        }
        return Reply(**self.ask(request))

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request as tools/warm_tests.py reads it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"The process that runs tests ended:\n{self._last_words()}")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """Ends the process, and forgets the files that tests made."""
        self.process.communicate()
        self.log.close()
        shutil.rmtree(self.temporary, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _last_words(self) -> str:
        self.log.seek(0)
        return self.log.read()[-2000:].decode(errors="replace")
