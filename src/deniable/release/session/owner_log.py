"""The owner's log: what went wrong while an engine ran, by reference number.

The analyst sees only a reference number. Under that number the owner finds the kind of failure
and the statement. No value is written: an engine's own message may quote a row, so it is not
kept. The file lies next to the ledger, and only its owner can read it.
"""

import contextlib
import datetime
import logging
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from deniable.exact.foreign_text import printable
from deniable.policy import Policy

_LOGGER = logging.getLogger("deniable.engine")
_current_log: ContextVar[Path | None] = ContextVar("owner_log", default=None)


class _OwnerLogHandler(logging.Handler):
    """Writes to the log of the session that runs now, if it has one.

    Without a handler, Python would print these records to the terminal, where an analyst could
    read them.
    """

    def emit(self, record: logging.LogRecord) -> None:
        path = _current_log.get()
        if path is None:
            return
        time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        line = printable(f"{time} {record.getMessage()}".replace("\n", " "))
        with contextlib.suppress(OSError):  # a full disk must not change what is answered
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
                file.write(f"{line}\n")


if not any(isinstance(handler, _OwnerLogHandler) for handler in _LOGGER.handlers):
    _LOGGER.addHandler(_OwnerLogHandler())


def log_path(policy: Policy) -> Path | None:
    """The log file of a policy, next to the key that signs its ledger; None without a ledger.

    >>> from deniable.policy import Table
    >>> log_path(Policy([Table("visits")], epsilon=1, ledger="deniable.ledger")).name
    'deniable.log'
    """
    file = policy.ledger_key or policy.ledger
    return None if file is None else Path(file).with_suffix(".log")


@contextlib.contextmanager
def log_to(path: Path | None) -> Iterator[None]:
    """Inside this context, everything that engines log goes to this file.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ledger.log"
    >>> with log_to(file):
    ...     _LOGGER.error("reference 1a2b: OutOfMemory")
    >>> file.read_text().split(" ", 1)[1]
    'reference 1a2b: OutOfMemory\\n'
    """
    token = _current_log.set(path)
    try:
        yield
    finally:
        _current_log.reset(token)
