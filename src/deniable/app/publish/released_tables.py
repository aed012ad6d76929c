"""Released tables as they are published: verified first, with intervals and certificate ids.

Reading what was released costs nothing, however often and by whomever. So tools that ask all
the time should read these tables, and not the private ones.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from deniable.errors import InvalidCertificate, InvalidParameter
from deniable.exact.foreign_text import MOST_BYTES
from deniable.query.plan import canonical
from deniable.release.answer.answer_table import Answer, end_columns, margin_columns
from deniable.release.answer.interval_columns import interval_table
from deniable.release.answer.record import read_table
from deniable.release.answer.wide_margins import margin_units
from deniable.release.certificate.verification import verify

ID_COLUMN = "certificate_id"
CERTIFICATES = "certificates"  # the table that says what the ids stand for
_NAME = re.compile("[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """One released table, ready to be written."""

    name: str
    rows: "pa.Table"  # keys, numbers, the ends of intervals, and the id of the certificate
    certificate_id: str
    certificate: str  # as `deniable verify` reads it


def read_released(file: Path, *, key: str) -> ReleasedTable:
    """The release in a file, if the owner of `key` signed it. Its name is that of the file."""
    name = re.sub("[^a-z0-9_]+", "_", file.stem.lower()).strip("_")
    if not _NAME.fullmatch(name) or name == CERTIFICATES:
        raise InvalidParameter(
            f"{file.stem!r} cannot be the name of a table. Rename the file with letters, "
            f"digits and _, and not {CERTIFICATES}."
        )
    try:
        with file.open("rb") as opened:
            text = opened.read(MOST_BYTES + 1)
    except OSError as problem:
        raise InvalidParameter(f"{str(file)!r} cannot be read: {problem.strerror}.") from None
    verified = verify(text, key=key)
    document = canonical.parse_json(text)
    if not isinstance(document, dict) or "rows" not in document:
        raise InvalidCertificate(
            f"{str(file)!r} is a certificate without its rows. Give the whole release, as "
            "`deniable sql --certificate FILE` writes it."
        )
    table = read_table(document["columns"], document["rows"])
    version = verified.certificate.statement["version"]
    ends = end_columns(verified.plan) if version > 1 else {}
    answer = Answer(table, margin_columns(verified.plan), ends)
    certificate = verified.certificate.to_json()
    return make_released(name, answer, margin_units(verified.plan), certificate)


def make_released(
    name: str, answer: Answer, units: dict[str, str], certificate: str
) -> ReleasedTable:
    """A released table, from its answer and the text of its certificate."""
    number = hashlib.sha256(certificate.encode("ascii")).hexdigest()
    rows = interval_table(answer, units)
    if ID_COLUMN in rows.column_names:
        raise InvalidParameter(f"A column of {name!r} is called {ID_COLUMN}. Rename it.")
    ids = pa.array([number] * rows.num_rows, pa.string())
    return ReleasedTable(name, rows.append_column(ID_COLUMN, ids), number, certificate)


def check_names(tables: Sequence[ReleasedTable]) -> None:
    """Refuses two tables of one name."""
    names = [table.name for table in tables]
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameter(
                f"Two files would become the table {name!r}. Rename one of them."
            )
