"""Rows that SQL made of released rows are handed over only as the owner signed them."""

import base64

import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.server.questions.answer_formats import write_form, write_outer
from deniable.app.server.questions.question_requests import describe_remaining
from deniable.client.remote_outer import read_outer
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import to_bytes
from deniable.release.asking.outer_question import plan_outer

INNER = "SELECT x, COUNT(*) AS n FROM data GROUP BY x"
TEXT = f"SELECT x, SUM(n) OVER () AS whole FROM ({INNER})"


@pytest.fixture
def session():
    table = pa.table({"x": ["=a", "b"] * 50})
    return dp.protect(table, keys={"x": ["=a", "b"]}, epsilon=100)


def ask(session, text=TEXT):
    """A question divided, as the client does it, and the outcome as the server tells it."""
    release = session.sql(text, epsilon=1)
    left = describe_remaining(release.remaining)
    told = {"repeated": False, "kept": True, "more": "", "remaining": left}
    refusal = dp.InvalidQuery("no question by itself")
    outer_plan = plan_outer(session, text, {"epsilon": 1}, refusal)
    return outer_plan, told | write_outer(release), release


def test_what_was_signed_is_handed_over(session):
    outer_plan, outcome, release = ask(session)
    read = read_outer(outer_plan, session._records, outcome)
    assert read.to_json() == release.to_json()
    assert read.to_arrow() == release.to_arrow()


def other_rows(outcome):
    table = pa.table({"x": ["=a", "b"], "whole": [7, 7], "whole_margin": [1, 1]})
    forged = to_bytes(Answer(table, {"whole": "whole_margin"}))
    return {"answer": base64.b64encode(forged).decode()}


FORGED = {
    "other rows": other_rows,
    "other notes": lambda told: {"statement": told["statement"] | {"notes": ["fine"]}},
    "another signature": lambda told: {"signature": "00" * 64},
}


@pytest.mark.parametrize("what", FORGED)
def test_anything_else_is_not(session, what):
    outer_plan, outcome, _ = ask(session)
    with pytest.raises(dp.LedgerBroken, match="not signed with the pinned key"):
        read_outer(outer_plan, session._records, outcome | FORGED[what](outcome))


def test_rows_of_other_sql_are_not(session):
    """The server ran another SQL over the same parts, and signed it."""
    outer_plan, _, _ = ask(session)
    _, outcome, _ = ask(session, TEXT.replace("SUM", "MAX"))
    with pytest.raises(dp.LedgerBroken, match="not signed with the pinned key"):
        read_outer(outer_plan, session._records, outcome)


def test_the_forms_of_such_an_answer(session):
    _, outcome, release = ask(session)
    assert write_form(outcome, "json").decode() == release.to_json()
    assert dp.verify(write_form(outcome, "json")).certificate == release.outer_certificate
    assert write_form(outcome, "csv").decode().splitlines()[1].startswith("'=a,")
    assert write_form(outcome, "certificate").startswith(b'{"signature":')
    with pytest.raises(dp.InvalidParameter, match="several parts"):
        write_form(outcome, "label")
