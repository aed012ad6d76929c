"""A PostgreSQL server for tests and benchmarks, on a socket in a folder that goes with it."""

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


@contextmanager
def server(**settings: str) -> Iterator[Path]:
    """Starts a server and gives the folder of its socket; nothing listens on any port."""
    program = find("postgresql")
    if program is None:
        raise FileNotFoundError(f"postgresql is missing; `{COMMAND}` adds it")
    programs, folder = program.resolve().parent, Path(tempfile.mkdtemp(prefix="pg"))
    how: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    how |= {"cwd": folder} | _owner(folder)
    data = folder / "data"
    made: list[str | Path] = [
        programs / "initdb",
        "-D",
        data,
        "-A",
        "trust",
        "-U",
        "deniable",
        "-N",
    ]
    process = None
    try:
        subprocess.run(made, check=True, timeout=PATIENCE, **how)
        chosen = {"listen_addresses": "", "max_connections": "200"} | settings
        options = [part for key, value in chosen.items() for part in ("-c", f"{key}={value}")]
        process = subprocess.Popen(
            [programs / "postgres", "-D", data, "-k", folder, *options], **how
        )
        _wait(folder, process)
        yield folder
    finally:
        if process is not None:
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def address(folder: Path) -> str:
    """The address of the server's one database."""
    return f"postgresql://deniable@/postgres?host={folder}"


def empty_place(folder: Path) -> str:
    """The address of a fresh, empty schema of that database."""
    place = f"place_{secrets.token_hex(8)}"
    with psycopg.connect(address(folder), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {place}".encode())
    return f"{address(folder)}&options=-csearch_path%3D{place}"


def _owner(folder: Path) -> dict[str, Any]:
    """As whom to run: PostgreSQL refuses to be root."""
    if os.geteuid():
        return {}
    known = {one.pw_name: one for one in pwd.getpwall()}
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
    process.send_signal(signal.SIGQUIT)  # at once: nothing here is kept
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
