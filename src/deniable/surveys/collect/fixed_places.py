"""Where a survey keeps its reports and its sealing key, which is noted when it begins."""

import json
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.exact.foreign_text import read_json
from deniable.policy.postgresql_addresses import is_postgresql, read_postgresql
from deniable.surveys.collect.private_files import read_private, write_once


def fix_store(folder: Path, store: str | None) -> str | Path:
    """Where the reports are. The note holds no password, so each command is told again.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> fix_store(folder, None).name
    'store.sqlite'
    """
    usual = "store.sqlite"
    shown = usual if store is None else _shown(store)
    noted = _note(folder / "store.json", "store", shown)
    if noted != shown:
        raise InvalidParameter(
            f"The reports of this survey are stored in {noted}. Give the same --store with "
            "every command."
        )
    return folder / usual if store is None else store


def fix_sealing_key(folder: Path, file: Path | None) -> Path:
    """Where the sealing key is: in the folder, or at a place that copies of it do not reach.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = fix_sealing_key(folder, folder / "elsewhere.key")
    >>> fix_sealing_key(folder, None).name
    'elsewhere.key'
    """
    usual = folder / "never-back-up" / "sealing.key"
    given = None if file is None else str(file.resolve())
    noted = _note(folder / "sealing-key.json", "sealing_key", given)
    if file is not None and noted != given:
        raise InvalidParameter(
            f"The sealing key of this survey is {noted or usual}. Its place cannot change once "
            "the survey has begun. Leave out --sealing-key."
        )
    return usual if noted is None else Path(noted)


def _note(file: Path, name: str, value: str | None) -> str | None:
    """What was noted first."""
    if not file.exists():
        write_once(file, json.dumps({name: value}).encode())
    noted: str | None = read_json(read_private(file))[name]
    return noted


def _shown(store: str) -> str:
    return read_postgresql(store).shown if is_postgresql(store) else str(Path(store).resolve())
