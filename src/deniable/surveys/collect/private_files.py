"""Small files that only their owner may read: written whole or not at all."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from deniable.errors import CollectionUnavailable, InvalidParameter


def read_private(file: Path) -> bytes:
    """The content of a file that no other user can read."""
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            content = opened.read()
    except OSError as problem:
        raise CollectionUnavailable(
            f"{str(file)!r} cannot be read: {problem.strerror}."
        ) from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidParameter(
            f"Other users can read {str(file)!r}. Protect it with   chmod 600 {file}"
        )
    return content


def write_once(file: Path, content: bytes) -> None:
    """Writes a file unless it is there: the first of several processes wins."""
    temporary = _write_beside(file, content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, file)
        sync_folder(file)
    finally:
        temporary.unlink()


def replace(file: Path, content: bytes) -> None:
    """Puts new content in the place of the old, in one step that lasts."""
    temporary = _write_beside(file, content)
    try:
        temporary.replace(file)
    except BaseException:
        temporary.unlink()
        raise
    sync_folder(file)


def sync_folder(file: Path) -> None:
    """Makes a new name in a folder last, or the absence of an old one."""
    if os.name == "posix":
        handle = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write_beside(file: Path, content: bytes) -> Path:
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
    except BaseException:
        temporary.unlink()
        raise
    return temporary
