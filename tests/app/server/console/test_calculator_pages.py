import json
import re

import pytest

from deniable.infer.calculator import calculate
from deniable.infer.two_releases import ReleasedNumbers, calculate_with_both

CALCULATOR = "/console/hospital/calculator"
COUNTS = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "1/2"}


@pytest.fixture(scope="module")
def asked(hospital):
    """The id of an answer of Ann."""
    ann = hospital.visitor("ann")
    job = ann._send("POST", "/v1/hospital/releases", content=json.dumps(COUNTS)).json()
    released = ann.get(f"/v1/hospital/releases/{job['id']}")
    assert released.status_code == 200
    return job["id"]


def kept_release(hospital, asked):
    from deniable.app.server.console.kept_answers import read_kept
    from deniable.app.server.questions.question_queue import QuestionQueue

    queue = QuestionQueue(hospital.identities.people.database)
    return read_kept(queue.find("hospital", asked, "ann")).release


def test_a_sum_is_that_of_the_released_numbers_and_costs_nothing(hospital, asked):
    ann = hospital.visitor("ann")
    before = ann.get("/v1/hospital/ledger/head").text
    ticked = {"first0": "on", "first1": "on"}
    shown = ann.submit(CALCULATOR, release=asked, operation="sum", column="n", **ticked)
    found = calculate(
        kept_release(hospital, asked), "sum", ["cardiology", "maternity"], value="n"
    )
    assert f'<p class="big">{found.value:,.0f}</p>' in shown.text
    assert '<h2 id="result">n of cardiology and maternity</h2>' in shown.text
    assert f"between <strong>{found.low:,.0f}</strong>" in shown.text
    assert ann.get("/v1/hospital/ledger/head").text == before


@pytest.mark.parametrize("operation", ["difference", "ratio", "share"])
def test_each_operation_has_a_result(hospital, asked, operation):
    fields = {"release": asked, "operation": operation, "column": "n", "confidence": "0.9"}
    shown = hospital.visitor("ann").submit(CALCULATOR, **fields, first0="on", second2="on")
    assert "With 90 % confidence" in shown.text
    assert 'role="alert"' not in shown.text


def test_what_is_missing_is_told(hospital, asked):
    shown = hospital.visitor("ann").submit(CALCULATOR, release=asked, operation="ratio")
    assert "Tick at least one group" in shown.text
    assert (
        "must be one of"
        in hospital.visitor("ann")
        .submit(CALCULATOR, release=asked, operation="<b>", first0="on")
        .text
    )


def test_a_release_of_somebody_else_does_not_exist(hospital, asked):
    ben = hospital.visitor("ben")
    assert ben.get(f"{CALCULATOR}?release={asked}").status_code == 404
    assert ben.submit(CALCULATOR, release=asked, operation="sum").status_code == 404
    assert "There is no released number yet" in ben.get(CALCULATOR).text
    for person in ("olga", "audrey"):
        assert hospital.visitor(person).get(f"{CALCULATOR}?release={asked}").status_code == 200


def test_every_number_on_the_page_is_released_or_computed_from_it(hospital, asked):
    shown = hospital.visitor("ann").get(f"{CALCULATOR}?release={asked}").text
    released = kept_release(hospital, asked)
    cells = re.findall(r'<td class="n(?: end)?">([\d,.-]+)</td>', shown)
    table = released.answer.table
    known = {
        f"{value:,}" for name in table.column_names[1:] for value in table[name].to_pylist()
    }
    assert cells
    assert set(cells) <= known


def test_numbers_of_two_releases_are_computed_with_both_noises(hospital, asked):
    ann = hospital.visitor("ann")
    told = json.dumps({"sql": "SELECT COUNT(*) AS everybody FROM visits", "epsilon": "1/4"})
    other = ann._send("POST", "/v1/hospital/releases", content=told).json()["id"]
    ann.get(f"/v1/hospital/releases/{other}")
    shown = ann.get(f"{CALCULATOR}?release={asked}&other={other}").text
    assert "Groups of the second" in shown
    assert 'name="second0" aria-label="all rows in the second"' in shown
    fields = {"release": asked, "other": other, "operation": "difference", "column": "n"}
    page = ann.submit(CALCULATOR, **fields, second_column="everybody", first0="on")
    first = ReleasedNumbers(kept_release(hospital, asked), ["cardiology"], "n")
    second = ReleasedNumbers(kept_release(hospital, other), [()], "everybody")
    found = calculate_with_both(first, "difference", second)
    assert f'<p class="big">{found.value:,.0f}</p>' in page.text
    assert f"between <strong>{found.low:,.0f}</strong>" in page.text
    same = ann.submit(CALCULATOR, **(fields | {"other": asked}), first0="on", second1="on")
    assert "Both are the same answer" in same.text
    missing = ann.submit(CALCULATOR, **(fields | {"release": other, "other": asked}))
    assert "second kind" in missing.text
    assert hospital.visitor("ben").get(f"{CALCULATOR}?other={other}").status_code == 404
