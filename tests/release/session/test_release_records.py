"""Kept answers name their version; one of a later version is not read as this one."""

import json

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.query.plan import canonical
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import from_bytes
from deniable.release.session import release_records

COUNT = "SELECT COUNT(*) AS n FROM data"


@pytest.fixture
def kept():
    """A kept answer, and what it is read with."""
    session = dp.protect(pa.table({"x": range(9)}), epsilon=9)
    release = session.sql(COUNT, epsilon=1)
    statement = release.certificate.statement
    expected = {"plan_hash": statement["plan_hash"], "version": statement["data_version"]}
    record = release_records.write_receipt(release.answer, release.certificate)
    return record, lambda text: release_records.read_receipt(
        text, session.ledger.public_key, **expected
    )


def test_a_kept_answer_names_its_version(kept):
    record, read = kept
    assert json.loads(record)["version"] == 2
    assert read(record)[0].table["n"]


def test_an_older_one_that_named_none_is_read(kept):
    record, read = kept
    older = json.loads(record)
    del older["version"]
    assert read(json.dumps(older))[0].table.equals(read(record)[0].table)


def test_an_answer_without_ends_is_read(kept):
    """As kept answers of version 1 were."""
    table = kept[1](kept[0])[0].table.select(["n", "n_margin"])
    noted = table.replace_schema_metadata({b"margins": b'{"n": "n_margin"}'})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, noted.schema) as stream:
        stream.write_table(noted)
    assert from_bytes(bytes(sink.getvalue())) == Answer(table, {"n": "n_margin"}, {})


def test_a_later_one_is_refused_with_a_sentence(kept):
    record, read = kept
    with pytest.raises(LedgerUnavailable, match=r"of version 3\. .* knows version 2 .* fresh"):
        read(json.dumps(json.loads(record) | {"version": 3, "answer": {"new": "form"}}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": "x"}', '{"version": null}'])
def test_what_is_not_a_kept_answer_is_refused(kept, text):
    with pytest.raises(LedgerBroken, match="kept answer differs"):
        kept[1](text)


def test_each_thread_gets_the_form_of_its_own_plan():
    """Here another thread always comes between storing a form and using it."""
    session = dp.protect(pa.table({"x": range(9)}), epsilon=9)
    own, other = (session.plan(COUNT, epsilon=epsilon) for epsilon in (1, 2))

    class Raced(release_records.ReleaseRecords):
        def __setattr__(self, name, value):
            replaced = value and (other, *canonical.plan_form(other))
            super().__setattr__(name, replaced if name == "_last" else value)

    fields = ("policy", "ledger", "analyst", "engine", "policy_hash", "rehearsal")
    records = Raced(**{name: getattr(session._records, name) for name in fields})
    assert records.canonical_form(own) == canonical.plan_form(own)
    assert records.canonical_form(other) == canonical.plan_form(other)
