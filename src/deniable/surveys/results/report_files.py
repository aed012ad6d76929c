"""Files of reports, in the three forms that occur, as batches.

* what devices sent: {"v":1,"s":...,"a":[...]}
* an export, which adds the batch and its day: {"batch":1,"day":...,"report":{...}}; the batch
  that closing at will wrote has "closing":true too
* reports by question, as `deniable survey simulate` writes them: {"doping":1}

A file without days is one batch.
"""

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from deniable.errors import InvalidData
from deniable.exact.foreign_text import read_json
from deniable.surveys.questionnaire.manifest import Manifest

_SENT = ({"v", "s", "a"}, {"batch", "day", "report"})

Batches = list[tuple[str, list[bytes]]]


def read_report_file(manifest: Manifest, path: str | Path) -> Batches:
    """The batches of a file of JSON lines."""
    return parse_report_lines(manifest, read_text_file(path))


def was_closed_at_will(path: str | Path) -> bool:
    """Whether a file of reports says that its last batch came by closing."""
    rows = read_json_objects(read_text_file(path))
    return any(row.get("closing") is True for _, row in rows)


def read_text_file(path: str | Path) -> str:
    """The text of a file in UTF-8, with or without a mark at its beginning."""
    file = Path(path)
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InvalidData(f"{file.name} cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise InvalidData(f"{file.name} is not text, written as UTF-8.") from None


def read_json_objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number and the object of every line that is not blank.

    >>> list(read_json_objects('{"a": 1}\\n\\n{}'))
    [(1, {'a': 1}), (3, {})]
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = read_json(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise InvalidData(f"Line {number} is not an object in JSON.")
        yield number, row


def parse_report_lines(manifest: Manifest, text: str, *, day: date | None = None) -> Batches:
    """The same from text. `day` is that of a file without days; without it, today.

    >>> from deniable.surveys.questionnaire.manifest import make_manifest
    >>> from deniable.surveys.questionnaire.questionnaire import loads
    >>> text = 'id="s"\\ntitle="t"\\nepsilon=1\\n[[questions]]\\nid="a"\\n'
    >>> manifest = make_manifest(loads(text + 'kind="yes-no"\\ntext="?"'))
    >>> lines = '{"a":1}\\n' + manifest.write_report({"a": 0}).decode()
    >>> ((_, bodies),) = parse_report_lines(manifest, lines)
    >>> [manifest.read_report(body) for body in bodies]
    [{'a': 1}, {'a': 0}]
    """
    today = (day or date.today()).isoformat()
    batches: dict[int, tuple[str, list[bytes]]] = {}
    for number, row in read_json_objects(text):
        batch, batch_day, sent = 0, today, row
        if row.keys() - {"closing"} == {"batch", "day", "report"}:
            batch, batch_day, sent = row["batch"], row["day"], row["report"]
        if not isinstance(batch, int) or not isinstance(batch_day, str):
            raise InvalidData(f"Line {number} of the reports has no batch and day.")
        try:
            body = _read_body(manifest, sent)
        except InvalidData as problem:
            raise InvalidData(f"Line {number}: {problem}") from None
        first_day, bodies = batches.setdefault(batch, (batch_day, []))
        if first_day != batch_day:
            raise InvalidData(f"Line {number}: batch {batch} has two days.")
        bodies.append(body)
    if not batches:
        raise InvalidData("There are no reports. Give one or more.")
    return [batches[number] for number in sorted(batches)]


def is_sent_form(path: str | Path) -> bool:
    """Whether a file holds what devices sent, or an export of it, by its first line."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            row = read_json(file.readline())
    except (OSError, ValueError):
        return False
    return isinstance(row, dict) and row.keys() - {"closing"} in _SENT


def _read_body(manifest: Manifest, row: Any) -> bytes:
    if isinstance(row, dict) and row.keys() == {"v", "s", "a"}:
        if row["s"] != manifest.hash:
            raise InvalidData(
                "The report is of another manifest. Give the manifest that the survey was "
                "served with, as `--manifest manifest.json`."
            )
        body = json.dumps(row, separators=(",", ":")).encode("ascii")
        manifest.read_report(body)
        return body
    names = {question.id for question in manifest.questions}
    if not isinstance(row, dict) or not row.keys() <= names:
        raise InvalidData("It is not an object with questions of this survey.")
    try:
        return manifest.write_report(row)
    except (TypeError, ValueError, IndexError):
        raise InvalidData("A report does not fit its question.") from None
