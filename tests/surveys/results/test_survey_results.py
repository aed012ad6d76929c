"""Sequences until the planned look, ordinary intervals at it, and what is said about both."""

import pytest

from deniable.errors import InvalidData, InvalidParameter
from deniable.surveys.results.survey_results import find_results
from tests.surveys.collected import EVERY_KIND, ONE_QUESTION, answered, manifest_of, simulated

ANYTIME, ONE_LOOK = {"beta-binomial", "betting"}, {"binomial", "fieller", "betting"}


@pytest.fixture(scope="module")
def collected():
    return simulated(EVERY_KIND, 500)


def methods(results, look):
    return {number.reading.method for at, number in results.numbers if at == look}


def test_before_the_planned_look_every_interval_is_a_sequence(collected):
    manifest, batches = collected
    for closed in (False, True):  # closing at will changes nothing
        results = find_results(manifest, batches[:7], closed=closed)
        assert results.look == "any"
        assert methods(results, "any") == ANYTIME
        assert methods(results, "planned") == set()
        assert "hold whenever you look" in results.notices[0]
        said = "was closed at will before" if closed else "Narrower ones come"
        assert said in results.notices[0]


def test_the_planned_look_has_ordinary_intervals_and_stays(collected):
    manifest, batches = collected
    at_look, later = (find_results(manifest, batches[:n]) for n in (8, 10))
    for results in (at_look, later):
        assert results.look == "planned"
        assert methods(results, "planned") == ONE_LOOK
        assert methods(results, "any") == ANYTIME
        assert results.look_respondents == 400
    fixed = [
        [(n.question, n.answer, n.group, n.reading) for at, n in r.numbers if at == "planned"]
        for r in (at_look, later)
    ]
    assert fixed[0] == fixed[1]
    assert "100 later reports" in later.notices[1]
    assert later.questions[0].sequence[0].reading.estimate.respondents == 500


def test_without_a_plan_there_is_no_planned_look():
    manifest = manifest_of(ONE_QUESTION.replace("planned_people = 1000", ""))
    results = find_results(manifest, [answered(manifest, 4000, 6000)], closed=True)
    assert results.look == "any"
    assert "fixes no number of people" in results.notices[0]


def test_every_kind_of_question_has_its_numbers(collected):
    manifest, batches = collected
    results = find_results(manifest, batches)
    shown = {
        findings.question.id: [number.label for number in findings.shown]
        for findings in results.questions
    }
    assert shown == {
        "doping": ["yes"],
        "offer": ["a coach", "=cmd()", "<b>someone", "prefer not to say"],
        "pressure": ["1", "2", "3", "4", "5", "mean"],
        "means": ["pills", "injections"],
        "hours": ["mean", "prefer not to say"],
        "weight": ["mean"],
        "age": ["25 or more"],
    }
    pairs = {(table.question.id, table.by.id) for table in results.tables}
    assert ("doping", "age") in pairs
    assert ("doping", "offer") in pairs
    assert ("hours", "age") in pairs
    assert ("age", "doping") not in pairs  # it is public already
    assert not any(by in ("means", "hours", "weight") for _, by in pairs)
    table = next(t for t in results.tables if (t.question.id, t.by.id) == ("doping", "age"))
    assert [row[0].group_label for row in table.within] == ["under 25", "25 or more"]
    assert sum(row[0].reading.estimate.respondents for row in table.within) == 400
    total = sum(row[0].reading.estimate.raw for row in table.of_all)
    assert total == pytest.approx(results.questions[0].planned[0].reading.estimate.raw)


def test_numbers_are_those_of_the_reports():
    manifest = manifest_of(ONE_QUESTION)
    results = find_results(manifest, [answered(manifest, 400, 600)])
    (number,) = results.questions[0].planned
    assert number.reading.estimate.value == pytest.approx(0.3)
    assert number.reading.estimate.interval == pytest.approx((0.2389, 0.3623), abs=1e-4)
    assert number.reading.influence == pytest.approx(1.5 / 1000)


def test_few_reports_and_rehearsals_are_said_first():
    manifest = manifest_of(ONE_QUESTION, rehearsal=True)
    results = find_results(manifest, [answered(manifest, 20, 29)])
    assert results.notices[0].startswith("REHEARSAL")
    assert "Fewer than 50 reports in all: 49" in results.notices[1]
    enough = find_results(manifest, [answered(manifest, 20, 30)])
    assert not any("Fewer" in notice for notice in enough.notices)


def test_one_question_each_counts_its_own_people():
    text = EVERY_KIND.replace("epsilon = 8", 'epsilon = 2\ncollection = "one-question-each"')
    manifest, batches = simulated(text, 350)
    results = find_results(manifest, batches)
    private = [f for f in results.questions if f.question.private]
    assert sum(findings.respondents for findings in private) == 350
    assert {table.by.id for table in results.tables} == {"age"}  # nobody answered two others
    strong, weak = (
        next(f for f in outcome.questions if f.question.id == "doping")
        .sequence[0]
        .reading.tuning
        for outcome in (find_results(*simulated(EVERY_KIND, 50)), results)
    )
    assert strong[0] == pytest.approx(
        6 * weak[0], rel=0.02
    )  # planned for a sixth of the people


def test_requests_that_cannot_be_met(collected):
    manifest, batches = collected
    with pytest.raises(InvalidData, match="whole batches"):
        find_results(manifest, [])
    with pytest.raises(InvalidParameter, match="language of this survey: en"):
        find_results(manifest, batches[:1], language="de")
