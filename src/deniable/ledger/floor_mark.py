"""A mark next to the key: the ledger's id, and the last charge that this host has seen.

A ledger may never end before the mark, and must hold the marked entry. So a ledger that was
replaced by an older copy, by another ledger, or by nothing is refused. A charge is committed
first, then the mark is raised, then the data is read. A ledger that is ahead of its mark is
therefore what a crash leaves, and is accepted. The mark is only raised, under a lock.

A mark is written before its ledger begins, so a ledger without one is refused. While the owner
begins another ledger, the mark names that one too, and why. The session that opens it first
completes that step, and records the reason.

A mark that is restored together with its ledger proves nothing. A head that is kept elsewhere
does (`deniable ledger head`).
"""

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.journal import EMPTY, JournalAnchor, JournalView
from deniable.ledger.stores.patience import poll, wait_for

FORMAT = 1
NOT_BEGUN = -1  # the number in a mark whose ledger has no entry yet
_REASONS = "because", "next_id", "next_because"


@dataclass(frozen=True, slots=True)
class Floor:
    """What a mark says."""

    id: str
    number: int = NOT_BEGUN
    hash: str = ""
    because: str = ""  # why it begins, until its first entry says so
    next_id: str = ""  # of the ledger that the owner begins in its place
    next_because: str = ""
    is_copy: bool = field(default=False, compare=False)  # the file is a copy of a mark


class FloorMark:
    """The mark's file, next to the key's file."""

    def __init__(self, key: str | Path) -> None:
        self.key, self.file = Path(key), Path(f"{key}.mark")

    def read(self) -> Floor | None:
        """The mark; None if the file does not exist."""
        try:
            with self.file.open(encoding="utf-8") as file:
                read: Any = json.load(file)
                inode = os.fstat(file.fileno()).st_ino
            if read.pop("format") != FORMAT:
                raise LedgerUnavailable(
                    f"The mark {str(self.file)!r} was written by another version of Deniable. "
                    "Use that version. Nothing was spent."
                )
            named = str(read.pop("id")), int(read.pop("number")), str(read.pop("hash"))
            because, next_id, then = (str(read.get(name, "")) for name in _REASONS)
            is_copy = read.get("inode", inode) != inode
            return Floor(*named, because, next_id, then, is_copy)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise LedgerUnavailable(
                f"The mark {str(self.file)!r} cannot be read. Restore it, or its latest copy. "
                "Nothing was spent."
            ) from None

    def check(self, view: JournalView, ledger_id: str, floor: Floor | None = None) -> None:
        """Refuses a ledger that is not the marked one, or that ends before the mark."""
        floor = floor or self.read()
        if floor is None:
            raise self.missing_error()
        if view.anchor != EMPTY:
            self._check_id(floor, ledger_id)
        if floor.number == NOT_BEGUN:  # it begins now, or a crash followed its first entries
            return
        row = view.row(floor.number)
        if row is None or row.hash != floor.hash:
            raise LedgerBroken(
                f"The ledger was set back: the mark {str(self.file)!r} says that it has entry "
                f"{floor.number}, and that entry is missing or is another one. Nothing was "
                "spent. Restore the ledger's latest copy."
            )

    def _check_id(self, floor: Floor, ledger_id: str) -> None:
        if floor.id != ledger_id:
            raise LedgerBroken(
                "This is not the ledger that was used with this key before: its id is "
                f"{ledger_id!r}, but the mark {str(self.file)!r} holds {floor.id!r}. Nothing "
                "was spent. Restore the ledger. If its owner has begun another one on another "
                "host, accept that one here with   deniable ledger accept --because ..."
            )

    def missing_error(self) -> LedgerBroken:
        """The error for a ledger that has entries, but no mark on this host."""
        return LedgerBroken(
            f"The mark {str(self.file)!r} of this ledger is missing, so nobody can tell "
            "whether the ledger was set back to an older copy. Nothing was spent. Restore the "
            "mark. Or, as its owner, if this is the latest copy, accept it with   deniable "
            "ledger accept --because ..."
        )

    def raise_to(self, ledger_id: str, anchor: JournalAnchor) -> None:
        """Raises the mark to the end of the ledger. It is never lowered."""
        try:
            with self.locked():
                floor = self.read()
                if floor is None:
                    raise self.missing_error()
                self._check_id(floor, ledger_id)
                if floor.number < anchor.number:
                    number, last = anchor.number, anchor.hash
                    self.write(replace(floor, number=number, hash=last, because=""))
        except OSError as problem:
            raise LedgerUnavailable(
                f"The mark {str(self.file)!r} cannot be written ({problem.strerror}), so a "
                "later loss of this charge would not be noticed. The charge stays, and nothing "
                "was released. Make its folder writable."
            ) from None

    @contextmanager
    def locked_to_begin(self) -> Iterator[None]:
        """The lock, for the first steps of a ledger."""
        try:
            with self.locked():
                yield
        except OSError as problem:
            raise LedgerUnavailable(
                f"The ledger cannot begin: {str(self.file.parent)!r} cannot be written "
                f"({problem.strerror}). The policy's [ledger] can name another place."
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
                said = {name: value for name, value in asdict(floor).items() if value != ""}
                del said["is_copy"]
                said |= {"format": FORMAT, "id": floor.id, "hash": floor.hash}
                json.dump(said | {"inode": os.fstat(out.fileno()).st_ino}, out)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(self.file)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        _sync_folder(self.file.parent)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """One process at a time begins a ledger in a folder, where the system has such locks."""
    if os.name != "posix":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        wait_for(poll(partial(_try_lock, handle)), str(folder))
        yield
    finally:
        os.close(handle)


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
