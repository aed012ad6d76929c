"""The line of a policy file that names its ledger: [ledger] id = "..."."""

import os
import re
import secrets
import tomllib
from pathlib import Path

from deniable.errors import InvalidPolicy

_HEADER = re.compile(r"^[ \t]*\[[ \t]*ledger[ \t]*\][^\n]*\n?", re.MULTILINE)
_NEXT_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_ID = re.compile(r"^[ \t]*id[ \t]*=[^\n]*\n?", re.MULTILINE)
_COMMENT = "# keep this line: it says which ledger holds this policy's charges"


def new_ledger_id() -> str:
    """A new random id."""
    return secrets.token_hex(16)


def with_ledger_id(text: str, ledger_id: str) -> str:
    """The text of a policy with this id of its ledger. Nothing else changes.

    >>> print(with_ledger_id("[ledger]\\nstore = 'a.sqlite'\\n", "7f").splitlines()[1][:9])
    id = "7f"
    """
    line = f'id = "{ledger_id}" {_COMMENT}\n'
    header = _HEADER.search(text)
    if header is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        changed = f"{text}{gap}\n[ledger]\n{line}"
    else:
        end = _NEXT_TABLE.search(text, header.end())
        last = len(text) if end is None else end.start()
        inside = _ID.sub("", text[header.end() : last])
        gap = "" if header.group().endswith("\n") else "\n"
        changed = f"{text[: header.end()]}{gap}{line}{inside}{text[last:]}"
    if not _differ_in_id_only(text, changed, ledger_id):
        raise InvalidPolicy(
            "The id of the ledger cannot be added to this policy by itself. Add this line to "
            f'its [ledger]:   id = "{ledger_id}"',
            where=("ledger",),
        )
    return changed


def check_id_can_be_written(file: Path) -> None:
    """Refuses a policy file into which the id of another ledger cannot be written."""
    file = file.resolve()
    try:
        with_ledger_id(file.read_bytes().decode(), "0" * 32)
    except InvalidPolicy:
        raise InvalidPolicy(
            "The id of another ledger cannot be written into this policy, because [ledger] is "
            "not a table of its own. Write   [ledger]   on a line, and its keys on the lines "
            "below. Nothing was changed.",
            where=("ledger",),
        ) from None
    if not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        raise InvalidPolicy(
            f"{str(file)!r} or its folder cannot be written, but the policy must name its new "
            "ledger. Nothing was changed. Make them writable.",
            where=("ledger",),
        )


def write_ledger_id(file: Path, ledger_id: str) -> None:
    """Adds the id to a policy file, in one step."""
    text = file.read_bytes().decode()  # line ends stay as they are
    try:
        replace_text(file, with_ledger_id(text, ledger_id))
    except OSError as problem:
        raise InvalidPolicy(
            f"{str(file.resolve())!r} cannot be written ({problem.strerror}), but it must name "
            f'its ledger. Add this line to its [ledger]:   id = "{ledger_id}"',
            where=("ledger",),
        ) from None


class FileChanged(Exception):
    """Somebody else has written the file since it was read."""


def replace_text(file: Path, text: str, *, only_if: str | None = None) -> None:
    """Puts another text into a policy file: the file has the old one or the new one.

    With `only_if`, only if the file still has that text; FileChanged otherwise. What somebody
    saves while this is at work is not lost.
    """
    file = file.resolve()
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    try:
        handle = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.stat().st_mode & 0o777
        )
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if only_if is not None and file.read_bytes() != only_if.encode():
            raise FileChanged
        temporary.replace(file)
    except (OSError, FileChanged):
        temporary.unlink(missing_ok=True)
        raise


def _differ_in_id_only(before: str, after: str, ledger_id: str) -> bool:
    try:
        old, new = (tomllib.loads(text.removeprefix("\ufeff")) for text in (before, after))
    except ValueError:
        return False
    old.setdefault("ledger", {})["id"] = ledger_id
    return old == new
