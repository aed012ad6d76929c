"""A PostgreSQL server for tests and benchmarks, on a socket in a folder that goes with it."""

import atexit
import contextlib
import functools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tools.system import COMMAND, find

PATIENCE = 120  # seconds, after which a server that does not start or stop is a failure
_OTHERS = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


class Server:
    """A server that may be killed and started again; `folder` is that of its socket."""

    def __init__(self, settings: dict[str, str]) -> None:
        program = find("postgresql")
        if program is None:
            raise FileNotFoundError(f"postgresql is missing; `{COMMAND}` adds it")
        self._programs = program.resolve().parent
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self._how: dict[str, Any] = {
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "cwd": self.folder,
        } | _owner(self.folder)
        self._settings = {"listen_addresses": "", "max_connections": "200"} | settings
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """An empty database, in the folder."""
        command: list[str | Path] = ["cp", "-a", _empty(self._programs), self.folder / "data"]
        subprocess.run(command, check=True, timeout=PATIENCE)

    def start(self) -> None:
        """Starts, and waits until it answers; after a kill it mends its files first."""
        options = [
            part for key, value in self._settings.items() for part in ("-c", f"{key}={value}")
        ]
        where: list[str | Path] = ["-D", self.folder / "data", "-k", self.folder]
        command = [self._programs / "postgres", *where, *options]
        end = time.monotonic() + PATIENCE
        while True:
            process = self._process = subprocess.Popen(command, **self._how)
            try:
                return _wait(self.folder, process)
            except psycopg.OperationalError:
                # Processes of a killed server hold its memory until they are gone, too.
                if process.poll() is None or time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def kill(self) -> None:
        """Ends the server and all processes that serve for it, none of which can object."""
        assert self._process is not None
        with psycopg.connect(address(self.folder), autocommit=True) as connection:
            rows = connection.execute(_OTHERS).fetchall()
        self._process.kill()  # first, or it would end the others its own way
        self._process.wait(PATIENCE)
        for (process,) in rows:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def stop(self) -> None:
        """Ends it and removes the folder."""
        try:
            if self._process is not None:
                _stop(self._process)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def mortal(**settings: str) -> Iterator[Server]:
    """A server that a test may kill; nothing listens on any port."""
    instance = Server(settings)
    try:
        instance.make()
        instance.start()
        yield instance
    finally:
        instance.stop()


@contextmanager
def server(**settings: str) -> Iterator[Path]:
    """Starts a server and gives the folder of its socket."""
    with mortal(**settings) as instance:
        yield instance.folder


def address(folder: Path) -> str:
    """The address of the server's one database."""
    return f"postgresql://deniable@/postgres?host={folder}"


def empty_place(folder: Path) -> str:
    """The address of a fresh, empty schema of that database."""
    place = f"place_{secrets.token_hex(8)}"
    with psycopg.connect(address(folder), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {place}".encode())
    return f"{address(folder)}#{place}"


@functools.cache
def _empty(programs: Path) -> Path:
    """The folder of an empty database that nothing runs on. It is made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command: list[str | Path] = [programs / "initdb", "-D", folder / "data"]
    subprocess.run(
        [*command, "-A", "trust", "-U", "deniable", "-N"],
        check=True,
        timeout=PATIENCE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        **_owner(folder),
    )
    return folder / "data"


def _owner(folder: Path) -> dict[str, Any]:
    """As whom to run: PostgreSQL refuses to be root."""
    if os.geteuid():
        return {}
    known = {name.pw_name: name for name in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _wait(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(address(folder)).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.05)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGQUIT)  # at once: nothing here is kept
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
