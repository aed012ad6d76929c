"""Released tables as a folder of Parquet files, with their certificates beside them."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from pyarrow import parquet

from deniable.app.publish.released_tables import CERTIFICATES, ReleasedTable
from deniable.errors import InvalidParameter


def write_folder(folder: Path, tables: Sequence[ReleasedTable]) -> None:
    """Writes `name.parquet` for each table, and `certificates/id.json`. Each file is replaced
    as a whole, so a reader never sees half of one."""
    try:
        (folder / CERTIFICATES).mkdir(parents=True, exist_ok=True)
        for table in tables:
            certificate = folder / CERTIFICATES / f"{table.certificate_id}.json"
            _replace(certificate, table.certificate.encode("ascii"))
            sink = folder / f".{table.name}.{secrets.token_hex(8)}"
            try:
                parquet.write_table(table.rows, sink)
                sink.replace(folder / f"{table.name}.parquet")
            finally:
                sink.unlink(missing_ok=True)
    except OSError as problem:
        raise InvalidParameter(
            f"{str(folder)!r} cannot be written: {problem.strerror or type(problem).__name__}."
        ) from None


def _replace(file: Path, content: bytes) -> None:
    temporary = file.with_name(f".{secrets.token_hex(8)}")
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
