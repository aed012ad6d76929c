"""A settled record in the forms in which it is handed over: JSON, CSV, Arrow and Parquet.

The JSON form is the release as `deniable verify` reads it. A cell of text in CSV that a
spreadsheet would take for a formula begins with an apostrophe; numbers stay numbers.
"""

import base64
import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from deniable.errors import InvalidParameter
from deniable.exact.foreign_text import read_json
from deniable.query.plan import canonical
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import from_bytes, to_bytes
from deniable.release.asking.outer_release import OuterRelease
from deniable.release.certificate.certificate import Certificate, document_text
from deniable.release.certificate.document import write_document
from deniable.release.certificate.label import label_title, make_label
from deniable.release.certificate.label_page import label_page
from deniable.release.certificate.verification import verify
from deniable.release.session.release import Release
from deniable.release.session.release_records import receipt_text

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def last_receipt(outcome: Mapping[str, Any]) -> str:
    """The receipt of the answer; of a question in several steps, that of the last one."""
    if outcome["kind"] == "answer":
        return str(outcome["record"])
    if outcome["kind"] == "answers":
        return str(outcome["records"][-1])
    return str(read_json(outcome["record"])[-1])


def write_record(release: Release) -> str:
    """The receipt of a release that was signed."""
    assert release.certificate is not None
    return receipt_text(release.answer, release.certificate)


def write_outer(release: OuterRelease) -> dict[str, Any]:
    """SQL over released rows: its private parts, its rows and what was signed about them."""
    assert release.outer_certificate is not None
    return {
        "kind": "outer",
        "parts": {name: write_record(part) for name, part in release.inner.items()},
        "answer": base64.b64encode(to_bytes(release.answer)).decode("ascii"),
        "statement": dict(release.outer_certificate.statement),
        "signature": release.outer_certificate.signature,
        "document": release.to_json(),
    }


def write_form(outcome: Mapping[str, Any], format_name: str) -> bytes:
    """An outcome in one of the forms."""
    if outcome["kind"] != "outer":
        return FORMATS[format_name][1](*read_release(last_receipt(outcome)))
    if format_name == "json":
        return str(outcome["document"]).encode("ascii")
    if format_name == "certificate":
        signed = {name: outcome[name] for name in ("statement", "signature")}
        return document_text(signed).encode("ascii")
    first = read_release(next(iter(outcome["parts"].values())))[1]
    if format_name == "label":
        raise InvalidParameter(
            "This answer has several parts. Ask for the parts by themselves, at no cost: each "
            "has its label."
        )
    answer = from_bytes(base64.b64decode(outcome["answer"], validate=True))
    return FORMATS[format_name][1](answer, first)


def read_release(receipt: str) -> tuple[Answer, Certificate]:
    """The answer and the certificate of a receipt of ours."""
    record = json.loads(receipt)
    answer = from_bytes(base64.b64decode(record["answer"], validate=True))
    return answer, Certificate.from_dict(record["certificate"])


def to_json(answer: Answer, certificate: Certificate) -> bytes:
    """The release as `deniable verify` reads it."""
    plan = canonical.from_json(dict(certificate.plan))
    return document_text(write_document(plan, answer, certificate)).encode("ascii")


def to_csv(answer: Answer, _: Certificate) -> bytes:
    """The rows with their margins."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_harmless(name) for name in answer.table.column_names])
    for row in answer.table.to_pylist():
        writer.writerow([_harmless(value) for value in row.values()])
    return text.getvalue().encode()


def _harmless(value: Any) -> Any:
    """
    >>> _harmless("=1+1"), _harmless(-3), _harmless("ward")
    ("'=1+1", -3, 'ward')
    """
    if isinstance(value, str) and value.startswith(_FORMULAS):
        return f"'{value}"
    return value


def to_arrow(answer: Answer, _: Certificate) -> bytes:
    """The rows as an Arrow stream, whose metadata name the columns of margins."""
    return to_bytes(answer)


def to_parquet(answer: Answer, _: Certificate) -> bytes:
    """The rows as a Parquet file."""
    sink = pa.BufferOutputStream()
    parquet.write_table(answer.table, sink)
    return bytes(sink.getvalue())


def to_certificate(_: Answer, certificate: Certificate) -> bytes:
    """The certificate as `deniable verify` reads it."""
    return certificate.to_json().encode("ascii")


def to_label(answer: Answer, certificate: Certificate) -> bytes:
    """The privacy label as a page."""
    verified = verify(to_json(answer, certificate), key=certificate.key)
    return label_page(make_label(verified), title=label_title(verified)).encode()


FORMATS: dict[str, tuple[str, Callable[[Answer, Certificate], bytes]]] = {
    "json": ("application/json", to_json),
    "csv": ("text/csv; charset=utf-8; header=present", to_csv),
    "arrow": ("application/vnd.apache.arrow.stream", to_arrow),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
    "certificate": ("application/json", to_certificate),
    "label": ("text/html; charset=utf-8", to_label),
}
