import html
import json

from deniable.app.server.children.pooled_engine import TimedEngine
from deniable.app.server.console.rehearsal_pages import without_sources
from deniable.policy import load

REHEARSE = "/console/hospital/rehearse"
COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def test_a_rehearsal_answers_from_made_up_rows_and_spends_nothing(hospital):
    ann = hospital.visitor("ann")
    before = ann.get("/v1/hospital/ledger/head").text, ann.get("/v1/hospital/budget").text
    shown = ann.submit(REHEARSE, sql=COUNTS, epsilon="0.5")
    assert shown.status_code == 200
    assert "describe no real person" in shown.text
    assert "cardiology" in shown.text
    assert "The real question would cost epsilon 0.5." in shown.text
    assert "Left:" not in shown.text  # nothing was spent
    assert "Rehearsal: these numbers" in shown.text
    after = ann.get("/v1/hospital/ledger/head").text, ann.get("/v1/hospital/budget").text
    assert after == before


def test_its_errors_are_those_of_the_real_question(hospital):
    ann = hospital.visitor("ann")
    body = {"sql": "SELECT SUM(price) FROM visits", "epsilon": "1/2"}
    told = ann._send("POST", "/v1/hospital/explain", content=json.dumps(body)).json()["detail"]
    shown = ann.submit(REHEARSE, sql=body["sql"], epsilon="0.5").text
    assert html.escape(told, quote=False) in shown.replace("&#39;", "'").replace("&#34;", '"')
    assert (
        "Write the epsilon as a number" in ann.submit(REHEARSE, sql=COUNTS, epsilon="1e9").text
    )


def test_a_question_without_end_is_stopped_and_said_to_be(hospital, monkeypatch):
    """Its child is killed; nothing of it runs in the server."""
    ann = hospital.visitor("ann")
    monkeypatch.setattr(TimedEngine, "_left", 0.0)
    assert "takes more than 10 seconds" in ann.submit(REHEARSE, sql=COUNTS, epsilon="0.5").text
    monkeypatch.undo()
    again = ann.submit(REHEARSE, sql=COUNTS, epsilon="0.5").text
    assert "Rehearsal: these numbers" in again


def test_no_source_is_opened(hospital):
    policy = without_sources(load(hospital.file))
    assert all(table.source is None for table in policy.tables.values())


def test_auditors_do_not_rehearse(hospital):
    assert hospital.visitor("audrey").get(REHEARSE).status_code == 403
