import base64
import json

import pytest
from starlette.testclient import TestClient

from deniable.app.server.security_headers import HEADERS
from deniable.app.server.survey_routes import RECEIVED
from deniable.surveys.collect.collection import public_key, read_base64
from deniable.surveys.collect.passes.pass_keys import SecretPassKey
from deniable.surveys.collect.store.report_store import hash_token
from tests.app.server import surveying
from tests.app.server.surveying import (
    blind,
    collected,
    exchange_body,
    make_pass,
    pass_of,
    report_body,
)


@pytest.fixture(autouse=True)
def _without_waiting_for_disks(monkeypatch):
    settings = "deniable.surveys.collect.store.database.SQLITE_SETTINGS"
    monkeypatch.setattr(settings, ("PRAGMA synchronous = OFF",))


@pytest.fixture
def survey(tmp_path):
    """`survey("pass")`: a collection and a client of its server."""
    opened = []

    def start(mode, **how):
        limit = how.pop("reports_per_hour", 10**6)
        collection = surveying.open_survey(tmp_path, mode, **how)
        client = TestClient(surveying.application(collection, reports_per_hour=limit))
        client.__enter__()
        opened.append((collection, client))
        return collection, client

    yield start
    for collection, client in opened:
        client.__exit__(None, None, None)
        collection.close()


def send(client, body):
    return client.post("/s/s/report", content=body, headers={"Content-Type": "text/plain"})


def test_the_page_its_files_and_its_manifest(survey):
    collection, client = survey("open")
    page = client.get("/s/s")
    assert page.text == "<script src=s/a.js></script>"
    assert client.get("/s/s?language=de").text == "<html lang=de>"
    assert client.get("/s/s?language=xx").text == page.text
    assert page.headers["content-security-policy"] == "script-src 'self'"
    assert client.get("/s/s/a.js").headers["content-type"].startswith("text/javascript")
    manifest = client.get("/s/s/manifest.json")
    assert manifest.content == collection.manifest.canonical()
    assert client.get("/s/other").status_code == 404
    assert "set-cookie" not in page.headers


def test_an_open_link_takes_every_report(survey):
    collection, client = survey("open")
    for number in range(3):
        answer = send(client, report_body(collection, number))
        assert (answer.status_code, answer.content) == (200, RECEIVED)
    assert collected(collection) == [0, 1, 2]


def test_an_open_link_is_limited_by_address(survey):
    collection, client = survey("open", reports_per_hour=2)
    statuses = [send(client, report_body(collection, n)).status_code for n in range(3)]
    assert statuses == [200, 200, 429]
    assert collected(collection) == [0, 1]


def test_a_token_takes_one_report(survey):
    collection, client = survey("token")
    token, other = collection.invite(2)
    assert send(client, report_body(collection, 1, token=token)).status_code == 200
    assert send(client, report_body(collection, 2, token=token)).content == RECEIVED
    assert send(client, report_body(collection, 3, token=other)).status_code == 200
    assert send(client, report_body(collection, 4, token=surveying.token())).status_code == 403
    assert send(client, report_body(collection, 4)).status_code == 400
    assert collected(collection) == [1, 3]


def test_the_whole_way_of_a_pass(survey):
    collection, client = survey("pass")
    (token,) = collection.invite(1)
    waiting = blind(collection)
    body = exchange_body(token, waiting)
    answer = client.post("/s/s/exchange", content=body)
    assert answer.status_code == 200
    signature = read_base64(answer.json()["signature"])
    ticket = public_key(collection.manifest).finish(waiting, signature)
    again = client.post("/s/s/exchange", content=body)
    assert again.content == answer.content
    sent = send(client, report_body(collection, 5, **{"pass": pass_of(ticket)}))
    assert (sent.status_code, sent.content) == (200, RECEIVED)
    assert collected(collection) == [5]


def test_a_second_blinded_message_for_one_token_is_refused(survey):
    collection, client = survey("pass")
    (token,) = collection.invite(1)
    first = client.post("/s/s/exchange", content=exchange_body(token, blind(collection)))
    second = client.post("/s/s/exchange", content=exchange_body(token, blind(collection)))
    assert (first.status_code, second.status_code) == (200, 403)


def test_an_unknown_token_is_refused_before_anything_is_signed(survey, monkeypatch):
    collection, client = survey("pass")
    monkeypatch.setattr(collection._signer, "sign", pytest.fail)
    body = exchange_body(surveying.token(), blind(collection))
    assert client.post("/s/s/exchange", content=body).status_code == 403
    assert client.post("/s/s/exchange", content=exchange_body("x", blind(collection)))
    assert collection._signer._process is None


def test_a_spent_pass_is_answered_alike_whatever_it_carries(survey):
    collection, client = survey("pass")
    ticket = {"pass": make_pass(collection)}
    first = send(client, report_body(collection, 1, **ticket))
    for body in (
        report_body(collection, 1, **ticket),
        report_body(collection, 2, **ticket),
        json.dumps({"report": "nonsense", **ticket}),
        json.dumps({"report": None, **ticket}),
    ):
        again = send(client, body)
        assert (again.status_code, again.content) == (200, first.content)
        assert again.headers.keys() == first.headers.keys()
    assert collected(collection) == [1]


def test_what_is_no_report_does_not_use_up_a_pass(survey):
    collection, client = survey("pass")
    ticket = {"pass": make_pass(collection)}
    assert send(client, json.dumps({"report": "nonsense", **ticket})).status_code == 400
    assert send(client, report_body(collection, 3, **ticket)).status_code == 200
    assert collected(collection) == [3]


def flip(text):
    data = bytearray(base64.urlsafe_b64decode(text + "=="))
    data[7] ^= 1
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.mark.parametrize("part", ["number", "randomizer", "signature"])
def test_a_forged_pass_is_refused(survey, part):
    collection, client = survey("pass")
    good = make_pass(collection)
    forged = good | {part: flip(good[part])}
    body = report_body(collection, 1, **{"pass": forged})
    assert send(client, body).status_code == 403
    assert send(client, report_body(collection, 2, **{"pass": good})).status_code == 200
    assert collected(collection) == [2]


def test_a_pass_of_another_survey_is_refused(survey):
    collection, client = survey("pass")
    foreign = make_pass(collection, SecretPassKey.new())
    body = report_body(collection, 1, **{"pass": foreign})
    assert send(client, body).status_code == 403
    assert collected(collection) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"report": 1}',
        b'{"report": "x", "pass": {}}',
        b'{"report": "x", "pass": {"number": 1, "randomizer": 2, "signature": 3}}',
        b'{"report": "x", "pass": {"number": "!", "randomizer": "", "signature": ""}}',
        b'{"report": "\\ud800", "pass": null}',
        b'{"report": "x", "token": "y"}',
    ],
)
@pytest.mark.parametrize("mode", ["open", "token", "pass"])
def test_nonsense_is_refused_alike(survey, mode, body):
    collection, client = survey(mode)
    for path in ("report", "exchange"):
        answer = client.post(f"/s/s/{path}", content=body)
        assert answer.status_code in (400, 403)
        assert HEADERS.keys() <= answer.headers.keys()
    assert collected(collection) == []


def test_after_closing_everything_is_refused_and_totals_are_shown(survey):
    collection, client = survey("pass")
    (token,) = collection.invite(1)
    early, late = make_pass(collection), make_pass(collection)
    send(client, report_body(collection, 1, **{"pass": early}))
    assert client.get("/s/s/totals.json").status_code == 404
    collection.store.close_survey()
    assert send(client, report_body(collection, 2, **{"pass": late})).status_code == 410
    assert send(client, report_body(collection, 1, **{"pass": early})).status_code == 200
    body = exchange_body(token, blind(collection))
    assert client.post("/s/s/exchange", content=body).status_code == 410
    totals = client.get("/s/s/totals.json").json()
    assert (totals["invited"], totals["exchanged"], totals["reports"]) == (1, 0, 1)
    assert totals["accepted"] == len(totals["passes"]) == 1


def test_the_totals_do_not_say_who_answered(survey):
    """Anyone who made the invitations has the tokens, and would find their hashes."""
    collection, client = survey("token")
    token, _ = collection.invite(2)
    send(client, report_body(collection, 1, token=token))
    collection.store.close_survey()
    totals = client.get("/s/s/totals.json")
    assert (totals.json()["accepted"], totals.json()["passes"]) == (1, [])
    assert hash_token(bytes.fromhex(token)).hex() not in totals.text


def test_a_report_through_an_open_link_counts_once_however_often_it_is_sent(survey):
    collection, client = survey("open")
    body = report_body(collection, 1)
    assert [send(client, body).content for _ in range(3)] == [RECEIVED] * 3
    assert send(client, report_body(collection, 1)).content == RECEIVED  # of somebody else
    wrong = json.dumps({**json.loads(body), "number": "x"})
    assert send(client, wrong).status_code == 400
    assert collected(collection) == [1, 1]


@pytest.mark.parametrize(("day", "status"), [("2020-01-01", 410), ("2999-01-01", 200)])
def test_a_survey_closes_on_its_day(survey, day, status):
    collection, client = survey(
        "open", text=surveying.TEXT.replace("epsilon", f'closes = "{day}"\nepsilon')
    )
    assert send(client, report_body(collection, 1)).status_code == status
    assert collection.store.is_closed == (status == 410)


@pytest.mark.parametrize("path", ["/s/s/totals.json", "/r/{secret}"])
def test_looking_at_the_results_closes_a_survey_whose_day_is_over(survey, path):
    text = surveying.TEXT.replace("epsilon", 'closes = "2020-01-01"\nepsilon')
    collection, client = survey("open", text=text)
    path = path.format(secret=collection.results_secret)
    assert client.get(path).status_code == 200
    assert collection.store.is_closed


def test_a_saved_page_may_read_the_answers(survey):
    """A page from a file has the origin null. It sends text/plain, without credentials."""
    collection, client = survey("pass")
    (token,) = collection.invite(1)
    here = {"Origin": "null"}
    body = exchange_body(token, blind(collection))
    answers = [
        client.post("/s/s/exchange", content=body, headers=here),
        client.post("/s/s/report", content=b"nonsense", headers=here),
        client.get("/s/s/manifest.json", headers=here),
        client.options("/s/s/report", headers=here),
        client.options("/s/s/exchange", headers=here),
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 200, 204, 204]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


def test_the_results_have_a_secret_link_and_move_by_batches(survey):
    collection, client = survey("open")
    assert client.get("/r/guess").status_code == 404
    link = f"/r/{collection.results_secret}"
    for number in range(100):
        assert client.get(link).text == "results of 0" or number == 0
        send(client, report_body(collection, number))
    assert client.get(link).text == "results of 50"
    assert client.get(link).headers["content-security-policy"] == "img-src data:"
    assert client.get(f"{link}/results.csv").text == "x,y"
    assert client.get(f"{link}/other.csv").status_code == 404
    assert client.get("/r/guess/results.csv").status_code == 404
    assert collection.results_secret == link[3:]


def test_a_failing_batch_is_not_the_respondents_problem(survey, monkeypatch, caplog):
    collection, client = survey("open")
    for number in range(99):
        collection.receive(report_body(collection, number).encode())

    def fail():
        raise OSError("secret words")

    monkeypatch.setattr(collection.store, "write_batches", fail)
    assert send(client, report_body(collection, 99)).status_code == 200
    assert "secret words" not in caplog.text
    assert len(collected(collection)) == 100
