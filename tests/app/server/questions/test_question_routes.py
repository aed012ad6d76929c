import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

import deniable as dp
from tests.app.server.questions.asking import (
    COUNT,
    ROWS,
    Asker,
    people_of,
    serving,
    write_hospital,
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return write_hospital(tmp_path_factory.mktemp("routes"), epsilon=1000)


@pytest.fixture(scope="module")
def client(place):
    with serving(place) as client:
        yield client


@pytest.fixture(scope="module")
def people(place):
    return people_of(place.parent.parent)


@pytest.fixture(scope="module")
def ann(client, people):
    return Asker(client, people.new_token("ann"))


def test_a_question_is_taken_and_answered(ann):
    taken = ann.ask()
    assert taken.status_code == 202
    assert set(taken.json()) == {"id", "question_id", "ready", "wait"}
    response = ann.wait(taken.json()["id"])
    assert response.status_code == 200
    assert abs(response.json()["rows"][0]["n"] - ROWS) < 200
    assert dp.verify(response.text).certificate.statement["analyst"] == "ann"


def test_all_forms_hold_the_same_numbers(ann):
    told = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": 1}
    name = ann.ask(told).json()["id"]
    rows = ann.wait(name).json()["rows"]
    arrow = pa.ipc.open_stream(ann.wait(f"{name}.arrow").content).read_all()
    table = parquet.read_table(io.BytesIO(ann.wait(f"{name}.parquet").content))
    assert arrow.to_pylist() == table.to_pylist() == rows
    lines = ann.wait(f"{name}.csv").text.split("\r\n")
    assert lines[0] == "ward,n,n_margin,n_low,n_high"
    assert lines[1] == ",".join(str(rows[0][name]) for name in lines[0].split(","))
    certificate = ann.wait(f"{name}/certificate").json()
    assert certificate == ann.wait(f"{name}.json").json()["certificate"]
    label = ann.wait(f"{name}/label")
    assert label.headers["content-type"].startswith("text/html")
    assert "<script" not in label.text


@pytest.mark.parametrize("form", [".xlsx", "/plan", ".json/csv", "."])
def test_other_forms_are_refused(ann, form):
    name = ann.ask().json()["id"]
    assert ann.get(f"releases/{name}{form}").status_code in (404, 406) or form == "."


def test_the_same_question_is_free_and_the_same(ann):
    told = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 7", "epsilon": 1}
    first = ann.answer(told).json()
    left = ann.get("budget").json()
    again = ann.answer(told).json()
    assert again["rows"] == first["rows"]
    assert ann.get("budget").json() == left


def test_without_slots_every_certificate_says_so(ann):
    stated = ann.answer().json()["certificate"]["statement"]
    assert stated["engine"] == "DuckDB, answered without slots"


def test_a_question_id_has_one_outcome(ann):
    told = {"sql": "SELECT COUNT(*) AS n FROM staff", "epsilon": 1, "question_id": "mine"}
    first, again = ann.ask(told, fresh=True), ann.ask(told, fresh=True)
    assert first.json()["id"] == again.json()["id"]
    ann.wait(first.json()["id"])
    left = ann.get("budget").json()
    third = ann.ask(told, fresh=True)
    assert third.json()["id"] == first.json()["id"]
    assert ann.get("budget").json() == left
    other = ann.ask(told, epsilon=2)
    assert other.status_code == 400
    assert other.json()["type"] == "/problems/invalid-parameter"
    assert "was used for another question" in other.json()["detail"]


def test_explain_spends_nothing(ann, place):
    left = ann.get("budget").json()
    explained = ann.post("explain", COUNT).json()
    assert explained["epsilon"] == "1/2"
    assert explained["text"].startswith("Answer at epsilon 0.5")
    assert explained["how_many"] > 100
    assert ann.get("budget").json() == left
    with dp.open(str(place)) as session:
        assert str(session.explain(COUNT["sql"], epsilon=0.5)) == explained["text"]


def test_quantiles_are_asked_with_and_without_brackets(ann):
    told = {"sql": "SELECT MEDIAN(cost) AS m FROM visits", "epsilon": 1}
    hashes = [
        ann.post("explain", told | {"brackets": given}).json()["plan_hashes"]
        for given in (True, False)
    ]
    assert hashes[0] == ann.post("explain", told).json()["plan_hashes"]
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("path", ["releases", "explain"])
@pytest.mark.parametrize("price", [{}, {"epsilon": 1}])
def test_declared_keys_alone_are_refused_with_where_they_are(ann, path, price):
    left = ann.get("budget").json()
    response = ann.post(path, {"sql": "SELECT DISTINCT ward FROM visits", **price})
    assert (response.status_code, response.json()["type"]) == (400, "/problems/invalid-query")
    assert "GET /v1/{policy}/tables" in response.json()["detail"]
    visits = ann.get("tables").json()["policy"]["tables"][0]
    assert {column["name"]: column["keys"] for column in visits["columns"]}["ward"] == [
        "A",
        "B",
    ]
    assert ann.get("budget").json() == left


def test_the_tables_tell_what_is_public(ann):
    told = ann.get("tables")
    assert [table["name"] for table in told.json()["policy"]["tables"]] == ["visits", "staff"]
    for secret in ("csv", "ledger.sqlite", "ledger.key"):
        assert secret not in told.text


def test_the_ledger_can_be_followed(ann, people, client):
    head = ann.get("ledger/head").json()
    ann.answer({"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 1", "epsilon": 0.25})
    assert ann.get("ledger/head").json()["number"] == head["number"] + 2
    entry = ann.get("ledger/entries").json()[-1]
    assert (entry["epsilon"], entry["state"], entry["analyst"]) == ("1/4", "settled", "ann")
    bob = Asker(client, people.new_token("bob"))
    assert bob.get("ledger/entries").json() == []
    eve = Asker(client, people.new_token("eve", role="auditor"))
    assert entry in eve.get("ledger/entries").json()


def test_two_steps_and_profiles_are_answered(ann):
    response = ann.answer(
        {"sql": "SELECT AVG(age) AS age FROM visits", "epsilon": 2, "bounds": "find"}
    )
    assert response.status_code == 200, response.text
    assert response.json()["certificate"]["statement"]["ledger"]["run"]["step"] == 2
    profile = ann.answer({"profile": {"table": "visits", "epsilon": 5}}, form="/record")
    assert profile.status_code == 200, profile.text
    assert len(json.loads(profile.json()["record"])) > 2
    limits = {"table": "visits", "by": ["ward"], "epsilon": 2, "max_rows": 5}
    measured = ann.answer({"limits": limits}, form="/record")
    assert measured.status_code == 200, measured.text
    assert len(json.loads(measured.json()["record"])) == 2


def test_several_questions_at_once(ann):
    told = [{"sql": f"SELECT COUNT(*) AS n FROM visits WHERE age > {i}"} for i in range(3)]
    body = {"questions": [{**question, "epsilon": "1/10"} for question in told], "delta": 1e-9}
    response = ann.answer(body, form="/record")
    assert len(response.json()["records"]) == 3


def test_a_part_is_asked_about(ann):
    told = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1, "part": [["ward", "A"]]}
    assert abs(ann.answer(told).json()["rows"][0]["n"] - ROWS / 2) < 100


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({**COUNT, "epsilon": 10**6}, "budget-exhausted"),
        ({**COUNT, "sql": "SELECT name FROM staff"}, "invalid-query"),
        ({**COUNT, "sql": "SELECT SUM(age) AS a FROM visits"}, "unbounded-column"),
        ({"sql": COUNT["sql"]}, "invalid-parameter"),
        ({**COUNT, "epsilon": -1}, "invalid-parameter"),
        ({**COUNT, "epsilon": [1]}, "invalid-parameter"),
        ({**COUNT, "epsilon": "x"}, "invalid-parameter"),
        ({**COUNT, "epsilom": 1}, "invalid-parameter"),
        ({**COUNT, "fresh": 1}, "invalid-parameter"),
        ({**COUNT, "sql": 7}, "invalid-parameter"),
        ({**COUNT, "sql": "x" * 70_000}, "too-large"),
        ({**COUNT, "part": "A"}, "invalid-parameter"),
        ({**COUNT, "part": [["ward", None]]}, "invalid-parameter"),
        ({**COUNT, "question_id": 7}, "invalid-parameter"),
        ({**COUNT, "question_id": ""}, "invalid-parameter"),
        ({"questions": []}, "invalid-parameter"),
        ({"questions": [7]}, "invalid-parameter"),
        ({"profile": 7}, "invalid-parameter"),
        ({"profile": {"table": "nothing", "epsilon": 1}}, "invalid-parameter"),
        ({"limits": 7}, "invalid-parameter"),
        ({"limits": {"table": "visits"}}, "invalid-parameter"),
        ({"limits": {"table": "visits", "epsilon": 1, "by": 7}}, "invalid-parameter"),
        ({"limits": {"table": "visits", "epsilon": 1, "max_rows": True}}, "invalid-parameter"),
        ({"limits": {"table": "staff", "epsilon": 1}}, "invalid-parameter"),
        ({"limits": {"table": "visits", "epsilon": 1e-320}}, "invalid-parameter"),
        (b"{", "invalid-parameter"),
        (b"[]", "invalid-parameter"),
        (b"\xff", "invalid-parameter"),
        (b'{"sql": "a", "sql": "b"}', "invalid-parameter"),
        (b"[" * 5000, "invalid-parameter"),
    ],
)
@pytest.mark.parametrize("path", ["releases", "explain"])
def test_what_cannot_be_answered_is_a_problem_with_a_page(ann, path, told, error):
    left = ann.get("budget").json()
    response = ann.post(path, told)
    if path == "explain" and error == "budget-exhausted":
        assert response.status_code == 200
        return
    if path == "explain" and isinstance(told, dict) and told.get("question_id") == "":
        assert response.status_code == 200
        return
    assert 400 <= response.status_code < 500, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"] == f"/problems/{error}"
    assert response.json()["status"] == response.status_code
    page = ann.client.get(response.json()["type"])
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert ann.get("budget").json() == left


def test_nobody_learns_nothing(client, people):
    paths = [
        "tables",
        "budget",
        "ledger/head",
        "ledger/entries",
        "releases/0",
        "releases/0/label",
    ]
    for header in ({}, {"Authorization": "Bearer dnb_0"}, {"Authorization": "Basic eA=="}):
        for policy in ("hospital", "nowhere"):
            answers = [client.get(f"/v1/{policy}/{path}", headers=header) for path in paths]
            answers += [
                client.post(f"/v1/{policy}/{path}", content=b"{}", headers=header)
                for path in ("releases", "explain", "budget")
            ]
            assert {answer.status_code for answer in answers} == {401}
            assert len({answer.content for answer in answers}) == 1


def test_a_foreign_answer_does_not_exist(ann, client, people):
    name = ann.ask().json()["id"]
    bob = Asker(client, people.new_token("bob"))
    foreign, unknown = bob.get(f"releases/{name}"), bob.get(f"releases/{'0' * 32}")
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content == unknown.content
    ann2 = Asker(client, people.new_token("ann"))
    assert ann2.wait(name).status_code == 200  # a person, not a token


@pytest.mark.parametrize("role", ["auditor", "pollster", "operator"])
def test_roles_without_questions_cannot_ask(client, people, role):
    person = Asker(client, people.new_token(f"the {role}", role=role))
    for path in ("releases", "explain"):
        assert person.post(path, COUNT).status_code == 403
    expected = 200 if role == "auditor" else 403
    assert person.get("ledger/head").status_code == expected


def test_a_token_opens_its_tables_and_policies_only(client, people):
    carl = Asker(client, people.new_token("carl", tables=("staff",)))
    assert [table["name"] for table in carl.get("tables").json()["policy"]["tables"]] == [
        "staff"
    ]
    refused = carl.ask()
    assert refused.status_code == 400
    assert refused.json()["type"] == "/problems/invalid-query"
    assert (
        carl.answer({"sql": "SELECT COUNT(*) AS n FROM staff", "epsilon": 1}).status_code == 200
    )
    other = Asker(client, people.new_token("dora", policies=("school",)))
    assert other.get("tables").status_code == 404
    assert other.get("tables").content == ann_of_nowhere(client, people)


@pytest.mark.parametrize("path", ["explain", "releases"])
@pytest.mark.parametrize(
    "question",
    [
        *({"sql": f"SELECT {what} AS n FROM T"} for what in ("COUNT(*)", "SUM(x)", "cost")),
        *({kind: {"table": "T", "epsilon": 1}} for kind in ("profile", "limits")),
    ],
    ids=str,
)
def test_a_table_that_a_token_does_not_open_does_not_exist(client, people, path, question):
    carl = Asker(client, people.new_token("carl", tables=("staff",)))
    told = question | ({"epsilon": 1} if "sql" in question else {})
    hidden, unknown = (
        carl.post(path, json.dumps(told).replace('T"', f'{name}"').encode()).text.replace(
            name, "T"
        )
        for name in ("visits", "nothng")
    )
    assert hidden == unknown
    assert "patient" not in hidden


@pytest.mark.parametrize("path", ["explain", "releases"])
@pytest.mark.parametrize("kind", ["profile", "limits"])
def test_a_table_that_is_not_named_is_not_looked_for_among_others(client, people, path, kind):
    """Of the tables that a token opens it may be the only one. The list of all is not told."""
    carl = Asker(client, people.new_token("carl", tables=("visits",)))
    refused = carl.post(path, {kind: {"epsilon": 1}})
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/access-denied")
    assert "Name the table" in refused.json()["detail"]
    assert "staff" not in refused.text


def test_a_token_shows_nothing_about_other_tables(ann, client, people):
    wards = {"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "epsilon": "1/8"}
    name = ann.ask(wards).json()["id"]
    assert ann.wait(name).status_code == 200
    askers = [
        Asker(client, people.new_token("ann", tables=("staff",))),
        Asker(client, people.new_token("eve", role="auditor", tables=("staff",))),
    ]
    for asker in askers:
        response = asker.get(f"releases/{name}")
        assert response.status_code == 404
        assert response.content == asker.get(f"releases/{'0' * 32}").content
        entries = asker.get("ledger/entries").json()
        assert {table for entry in entries for table in entry["tables"]} <= {"staff"}
        assert asker.post("budget", {"tables": ["visits"]}).status_code == 403
        assert asker.post("budget", {"tables": ["staff"]}).status_code == 200
    visits = Asker(client, people.new_token("ann", tables=("visits",)))
    assert visits.wait(name).status_code == 200


def ann_of_nowhere(client, people):
    return Asker(client, people.new_token("ann"), policy="nowhere").get("tables").content


def test_sql_is_never_in_an_address(ann):
    assert ann.get("releases?sql=SELECT%201").status_code in (404, 405)
    assert ann.get("explain?sql=SELECT%201").status_code == 405
