"""A mark next to the key: the ledger's id, and the last charge that this host has seen.

A ledger may never end before the mark, and must hold the marked entry. So a ledger that was
replaced by an older copy, by another ledger, or by nothing is refused. A charge is committed
first, then the mark is raised, then the data is read. A ledger that is ahead of its mark is
therefore what a crash leaves, and is accepted. The mark is only raised, under a lock.

A mark that is restored together with its ledger proves nothing. A head that is kept elsewhere
does (`deniable ledger head`).
"""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.journal import JournalAnchor, JournalView
from deniable.ledger.stores.patience import poll, wait_for

FORMAT = 1
NOT_BEGUN = -1  # the number in a mark whose ledger has no entry yet


@dataclass(frozen=True, slots=True)
class Floor:
    """What a mark says."""

    id: str
    number: int = NOT_BEGUN
    hash: str = ""


class FloorMark:
    """The mark's file, next to the key's file."""

    def __init__(self, key: str | Path) -> None:
        self.file = Path(f"{key}.mark")

    def read(self) -> Floor | None:
        """The mark; None if the file does not exist."""
        try:
            read: Any = json.loads(self.file.read_text(encoding="utf-8"))
            if read.pop("format") != FORMAT:
                raise LedgerUnavailable(
                    f"The mark {str(self.file)!r} was written by another version of Deniable. "
                    "Use that version. Nothing was spent."
                )
            return Floor(str(read.pop("id")), int(read.pop("number")), str(read.pop("hash")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise LedgerUnavailable(
                f"The mark {str(self.file)!r} cannot be read. Restore it, or its latest copy. "
                "Nothing was spent."
            ) from None

    def check(self, view: JournalView, ledger_id: str) -> None:
        """Refuses a ledger that is not the marked one, or that ends before the mark."""
        floor = self.read()
        if floor is None or floor.number == NOT_BEGUN:
            return
        if floor.id != ledger_id:
            raise LedgerBroken(
                "This is not the ledger that was used with this key before: its id is "
                f"{ledger_id!r}, but the mark {str(self.file)!r} holds {floor.id!r}. Nothing "
                "was spent. Restore the ledger."
            )
        row = view.row(floor.number)
        if row is None or row.hash != floor.hash:
            raise LedgerBroken(
                f"The ledger was set back: the mark {str(self.file)!r} says that it has entry "
                f"{floor.number}, and that entry is missing or is another one. Nothing was "
                "spent. Restore the ledger's latest copy."
            )

    def raise_to(self, ledger_id: str, anchor: JournalAnchor) -> None:
        """Raises the mark to the end of the ledger. It is never lowered."""
        try:
            with self.locked():
                floor = self.read()
                if floor is None or floor.number < anchor.number:
                    self.write(Floor(ledger_id, anchor.number, anchor.hash))
        except OSError as problem:
            raise LedgerUnavailable(
                f"The mark {str(self.file)!r} cannot be written ({problem.strerror}), so a "
                "later loss of this charge would not be noticed. The charge stays, and nothing "
                "was released. Make its folder writable."
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time, where the system has such locks; the lock file stays."""
        handle = os.open(f"{self.file}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            wait_for(poll(partial(_try_lock, handle)), str(self.file))
            yield
        finally:
            os.close(handle)

    def write(self, floor: Floor) -> None:
        """Replaces the file in one step that survives a crash."""
        temporary = self.file.with_name(f".{self.file.name}.{secrets.token_hex(8)}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump({"format": FORMAT, **asdict(floor)}, out)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(self.file)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _sync_folder(self.file.parent)


def _try_lock(handle: int) -> bool:
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except ImportError:  # not POSIX: there are no such locks
        return True
    return True


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
