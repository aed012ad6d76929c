"""The owner's log: what went wrong while an engine ran, by its reference number.

An analyst is told a number, and the owner finds under it which kind of failure it was, in
which statement. No value is ever part of it: an engine's own words may quote a row, so they are
not kept either. The file lies beside the ledger and only its owner can read it.
"""

import contextlib
import datetime
import logging
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from deniable.policy import Policy

_LOGGER = logging.getLogger("deniable.engine")
_now: ContextVar[Path | None] = ContextVar("owner_log", default=None)


class _ToOwner(logging.Handler):
    """Writes to the log of the session that is asking, if it has one.

    It also keeps Python from printing what nobody handles to the terminal, where an analyst
    may sit.
    """

    def emit(self, record: logging.LogRecord) -> None:
        path = _now.get()
        if path is None:
            return
        time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        line = f"{time} {record.getMessage()}".replace("\n", " ")
        with contextlib.suppress(OSError):  # a full disk must not change what is answered
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
                file.write(f"{line}\n")


if not any(isinstance(one, _ToOwner) for one in _LOGGER.handlers):
    _LOGGER.addHandler(_ToOwner())


def log_beside(policy: Policy) -> Path | None:
    """Where a policy's log is: beside the key that signs its ledger; nowhere without one.

    >>> from deniable.policy import Table
    >>> log_beside(Policy([Table("visits")], epsilon=1, ledger="deniable.ledger")).name
    'deniable.log'
    """
    place = policy.ledger_key or policy.ledger
    return None if place is None else Path(place).with_suffix(".log")


@contextlib.contextmanager
def noting(path: Path | None) -> Iterator[None]:
    """While this lasts, what engines log goes to this file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ledger.log"
    >>> with noting(file):
    ...     _LOGGER.error("reference 1a2b: OutOfMemory")
    >>> file.read_text().split(" ", 1)[1]
    'reference 1a2b: OutOfMemory\\n'
    """
    token = _now.set(path)
    try:
        yield
    finally:
        _now.reset(token)
