"""Shell commands of a page as cells of a notebook, and what they print."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAGIC, BACKGROUND = "%%bash\n", "%%bash --bg\n"
_ADDRESS = "http://127.0.0.1:8000"  # as pages write it; a free port takes its place


class Shell:
    """Runs cells that begin with `%%bash`, in the folder where it was made.

    >>> with Shell.opened() as shell:
    ...     shell.run("%%bash\\necho $((1 + 1))")
    '2\\n'
    """

    def __init__(self) -> None:
        self._running: list[subprocess.Popen[str]] = []
        self._address = _ADDRESS

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator["Shell"]:
        """A shell whose background commands end in order when it is left."""
        shell = cls()
        try:
            yield shell
        finally:
            for process in shell._running:
                process.send_signal(signal.SIGTERM)
                process.communicate()

    def run(self, cell: str) -> str:
        """What a cell prints; of a background command only the first line."""
        if cell.startswith(BACKGROUND):
            return self._start(cell.removeprefix(BACKGROUND))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.localize(cell.removeprefix(MAGIC))],
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{cell}\n{done.stdout}")
        return done.stdout.replace(self._address, _ADDRESS)

    def localize(self, text: str) -> str:
        """A text with the address of the running server in place of the page's."""
        return text.replace(_ADDRESS, self._address)

    def _start(self, command: str) -> str:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command.replace('--port 8000', '--port 0')}"],
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        if found := re.search(r"http://[^/\s]+", line):
            self._address = found.group()
        return line.replace(self._address, _ADDRESS)


def _environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
