import json
import re

import pytest

from deniable.infer.calculator import calculate
from deniable.infer.two_releases import ReleasedNumbers, calculate_with_both

CALCULATOR = "/console/hospital/calculator"
COUNTS = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "1/2"}


@pytest.fixture(scope="module")
def release_id(hospital):
    """The id of an answer of Ann."""
    ann = hospital.visitor("ann")
    job = ann._send("POST", "/v1/hospital/releases", content=json.dumps(COUNTS)).json()
    released = ann.get(f"/v1/hospital/releases/{job['id']}")
    assert released.status_code == 200
    return job["id"]


def kept_release(hospital, release_id):
    from deniable.app.server.console.kept_answers import read_kept
    from deniable.app.server.questions.question_queue import QuestionQueue

    queue = QuestionQueue(hospital.identities.people.database)
    return read_kept(queue.find("hospital", release_id, "ann")).release


def test_a_sum_is_that_of_the_released_numbers_and_costs_nothing(hospital, release_id):
    ann = hospital.visitor("ann")
    before = ann.get("/v1/hospital/ledger/head").text
    ticked = {"first0": "on", "first1": "on"}
    shown = ann.submit(CALCULATOR, release=release_id, operation="sum", column="n", **ticked)
    result = calculate(
        kept_release(hospital, release_id), "sum", ["cardiology", "maternity"], value="n"
    )
    assert f'<p class="big">{result.value:,.0f}</p>' in shown.text
    assert '<h2 id="result">n of cardiology and maternity</h2>' in shown.text
    assert f"between <strong>{result.low:,.0f}</strong>" in shown.text
    assert ann.get("/v1/hospital/ledger/head").text == before


@pytest.mark.parametrize("operation", ["difference", "ratio", "share"])
def test_each_operation_has_a_result(hospital, release_id, operation):
    fields = {"release": release_id, "operation": operation, "column": "n", "confidence": "0.9"}
    shown = hospital.visitor("ann").submit(CALCULATOR, **fields, first0="on", second2="on")
    assert "With 90 % confidence" in shown.text
    assert 'role="alert"' not in shown.text


def test_what_is_missing_is_told(hospital, release_id):
    shown = hospital.visitor("ann").submit(CALCULATOR, release=release_id, operation="ratio")
    assert "Tick at least one group" in shown.text
    assert (
        "must be one of"
        in hospital.visitor("ann")
        .submit(CALCULATOR, release=release_id, operation="<b>", first0="on")
        .text
    )


def test_a_release_of_somebody_else_does_not_exist(hospital, release_id):
    ben = hospital.visitor("ben")
    assert ben.get(f"{CALCULATOR}?release={release_id}").status_code == 404
    assert ben.submit(CALCULATOR, release=release_id, operation="sum").status_code == 404
    assert "There is no released number yet" in ben.get(CALCULATOR).text
    for person in ("olga", "audrey"):
        assert (
            hospital.visitor(person).get(f"{CALCULATOR}?release={release_id}").status_code
            == 200
        )


def test_every_number_on_the_page_is_released_or_computed_from_it(hospital, release_id):
    shown = hospital.visitor("ann").get(f"{CALCULATOR}?release={release_id}").text
    released = kept_release(hospital, release_id)
    cells = re.findall(r'<td class="n(?: end)?">([\d,.-]+)</td>', shown)
    table = released.answer.table
    known = {
        f"{value:,}" for name in table.column_names[1:] for value in table[name].to_pylist()
    }
    assert cells
    assert set(cells) <= known


def test_numbers_of_two_releases_are_computed_with_both_noises(hospital, release_id):
    ann = hospital.visitor("ann")
    told = json.dumps({"sql": "SELECT COUNT(*) AS everybody FROM visits", "epsilon": "1/4"})
    other = ann._send("POST", "/v1/hospital/releases", content=told).json()["id"]
    ann.get(f"/v1/hospital/releases/{other}")
    shown = ann.get(f"{CALCULATOR}?release={release_id}&other={other}").text
    assert "Groups of the second" in shown
    assert 'name="second0" aria-label="all rows in the second"' in shown
    fields = {"release": release_id, "other": other, "operation": "difference", "column": "n"}
    page = ann.submit(CALCULATOR, **fields, second_column="everybody", first0="on")
    first = ReleasedNumbers(kept_release(hospital, release_id), ["cardiology"], "n")
    second = ReleasedNumbers(kept_release(hospital, other), [()], "everybody")
    result = calculate_with_both(first, "difference", second)
    assert f'<p class="big">{result.value:,.0f}</p>' in page.text
    assert f"between <strong>{result.low:,.0f}</strong>" in page.text
    same = ann.submit(CALCULATOR, **(fields | {"other": release_id}), first0="on", second1="on")
    assert "Both are the same answer" in same.text
    missing = ann.submit(CALCULATOR, **(fields | {"release": other, "other": release_id}))
    assert "second kind" in missing.text
    assert hospital.visitor("ben").get(f"{CALCULATOR}?other={other}").status_code == 404
