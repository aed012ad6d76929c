"""A PostgreSQL server of the tests' own, on a socket in a folder that goes with it."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tools.system import find

PATIENCE = 120  # seconds, after which a server that does not start or stop is a failure


@contextmanager
def server(**settings):
    """Starts a server and gives the folder of its socket; nothing listens on any port."""
    programs = find("postgresql").resolve().parent
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    who = _owner(folder)
    data = folder / "data"
    made = [programs / "initdb", "-D", data, "-A", "trust", "-U", "deniable", "-N"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    process = None
    try:
        subprocess.run(made, check=True, timeout=PATIENCE, **quiet, **who)
        chosen = {"listen_addresses": "", "max_connections": "200"} | settings
        options = [part for key, value in chosen.items() for part in ("-c", f"{key}={value}")]
        command = [programs / "postgres", "-D", data, "-k", folder, *options]
        process = subprocess.Popen(command, **quiet, **who)
        _wait(folder, process)
        yield folder
    finally:
        if process is not None:
            _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def ledger_address(folder):
    """The address of a fresh, empty place for one ledger."""
    place = f"ledger_{secrets.token_hex(8)}"
    with psycopg.connect(_base(folder), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {place}")
    return f"{_base(folder)}&options=-csearch_path%3D{place}"


def _base(folder):
    return f"postgresql://deniable@/postgres?host={folder}"


def _owner(folder):
    """As whom to run: PostgreSQL refuses to be root."""
    if os.geteuid():
        return {}
    known = {one.pw_name: one for one in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _wait(folder, process):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            psycopg.connect(_base(folder)).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.05)


def _stop(process):
    process.send_signal(signal.SIGQUIT)  # at once: nothing here is kept
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
