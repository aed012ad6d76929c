"""What people see of questions that have no answer to look at."""

import pytest

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.kept_answers import (
    IN_PARTS,
    WAITING,
    AskedAnswer,
    is_theirs,
    read_kept,
)
from deniable.app.server.questions.question_queue import Job

JOB = Job("x", "hospital", "ann", "q", {"sql": "SELECT 1"}, "plan", 0.0, 0.0, 1)


@pytest.mark.parametrize(
    ("person", "seen"),
    [
        (Person("ann", "analyst", tables=("visits",)), True),
        (Person("olga", "owner"), True),
        (Person("audrey", "auditor", tables=("other",)), False),
    ],
)
def test_others_questions_are_hidden_from_people_with_some_tables(person, seen):
    assert is_theirs(None, person, AskedAnswer(JOB, WAITING)) == seen


def test_sql_over_private_answers_is_named_and_breaks_no_page():
    outcome = {"kind": "outer", "parts": {}, "document": "{}"}
    kept = read_kept(
        Job(**{name: getattr(JOB, name) for name in JOB.__slots__} | {"outcome": outcome})
    )
    assert (kept.state, kept.release) == (IN_PARTS, None)
    assert "/v1/hospital/releases/x.json" in kept.problem
