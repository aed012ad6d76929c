"""Shell commands of a page as cells of a notebook, and what they print."""

import contextlib
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
                _end(process)

    def run(self, cell: str) -> str:
        """What a cell prints; of a background command only the first line."""
        if cell.startswith(BACKGROUND):
            return self.start(cell.removeprefix(BACKGROUND))
        words = ["-euo", "pipefail", "-c", self.localize(cell.removeprefix(MAGIC))]
        process = _open(words, stderr=subprocess.STDOUT)
        printed = _end(process)
        if process.returncode != 0:
            raise RuntimeError(f"{cell}\n{printed}")
        return self.globalize(printed)

    def localize(self, text: str) -> str:
        """A text with the address of the running server in place of the page's."""
        return text.replace(_ADDRESS, self._address)

    def globalize(self, text: str) -> str:
        """A text with the page's address in place of that of the running server."""
        return text.replace(self._address, _ADDRESS)

    def start(self, command: str, lines: int = 1) -> str:
        """The first lines of a command that stays, with a free port in place of port 8000."""
        command = command.replace("--port 8000", "").rstrip()
        process = _open(["-c", f"exec {command} --port 0"], stderr=subprocess.DEVNULL)
        self._running.append(process)
        assert process.stdout is not None
        printed = "".join(process.stdout.readline() for _ in range(lines))
        if match := re.search(r"http://[^/\s]+", printed):
            self._address = match.group()
        return self.globalize(printed)


def _open(words: list[str], *, stderr: int) -> "subprocess.Popen[str]":
    """A command in a group of its own, so that what it starts can be ended with it."""
    return subprocess.Popen(
        ["bash", *words],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
    )


def _end(process: "subprocess.Popen[str]") -> str:
    """What a command still prints until it ends. What it left behind is ended with it."""
    printed = process.communicate()[0]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return printed


def _environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
