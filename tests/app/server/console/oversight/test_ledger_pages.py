import json
import re
from fractions import Fraction

import pytest

from tests.app.server.console.conftest import wait_for
from tests.app.server.console.test_answer_pages import ask

LEDGER = "/console/hospital/ledger"


def test_an_auditor_replays_the_ledger_against_an_earlier_head(hospital):
    audrey = hospital.visitor("audrey")
    head = audrey.get("/v1/hospital/ledger/head").text
    shown = audrey.submit(LEDGER, head=head)
    assert shown.status_code == 200
    assert "The ledger is sound." in shown.text
    assert "1 earlier head" in shown.text
    assert "0 earlier" not in audrey.submit(LEDGER, head="").text


def test_a_head_that_the_ledger_never_had_is_told(hospital):
    audrey = hospital.visitor("audrey")
    head = json.loads(audrey.get("/v1/hospital/ledger/head").text)
    forged = json.dumps(head | {"hash": "0" * 64})
    shown = audrey.submit(LEDGER, head=forged).text
    assert 'role="alert"' in shown
    assert "The ledger is sound" not in shown
    assert "holds no ledger head" in audrey.submit(LEDGER, head='{"number": 1}').text


def test_the_command_names_the_key_and_the_place_for_the_owner_only(hospital):
    key = json.loads(hospital.visitor("audrey").get("/v1/hospital/tables").text)["key"]
    place = str(hospital.file.parent)
    for person, knows in (("olga", True), ("audrey", False), ("ann", False)):
        text = hospital.visitor(person).get(LEDGER).text
        assert re.search(f"ledger verify --store .* --key {key} --head head.json", text)
        assert (place in text) is knows


@pytest.mark.parametrize(("person", "status"), [("ann", 403), ("paul", 403), ("otto", 403)])
def test_only_owner_and_auditor_replay(hospital, person, status):
    assert hospital.visitor(person).submit(LEDGER, head="").status_code == status
    assert hospital.visitor("olga").submit(LEDGER, head="").status_code == 200
    shown = hospital.visitor("ann").get(LEDGER).text
    assert "Charges of ann" in shown
    assert "Replay the ledger" not in shown


@pytest.mark.parametrize("before", ["9" * 5000, "x<b>y", "-1", "1e+3", "\u0661"])
def test_an_address_that_is_no_number_shows_the_latest_and_repeats_nothing(hospital, before):
    audrey = hospital.visitor("audrey")
    shown = audrey.get(LEDGER, params={"before": before})
    assert shown.status_code == 200
    assert "Latest charges" not in shown.text
    assert before not in shown.text.replace(LEDGER, "") or len(before) < 3


def test_every_charge_is_that_of_the_interface(hospital):
    ann, audrey = hospital.visitor("ann"), hospital.visitor("audrey")
    for question, price in (("COUNT(*)", "0.05"), ("AVG(cost)", "0.125")):
        wait_for(ann, ask(ann, f"SELECT {question} AS n FROM visits", price))
    head = audrey.get("/v1/hospital/ledger/head").json()
    for visitor in (ann, audrey):
        told = visitor.get("/v1/hospital/ledger/entries").json()
        page = visitor.get(LEDGER).text
        rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
        shown = {int(number): re.findall(r"<td[^>]*>([^<]*)<", cells) for number, cells in rows}
        assert list(shown) == sorted(shown, reverse=True)
        assert {entry["number"] for entry in told} == set(shown)
        for entry in told:
            time, analyst, about, epsilon, delta, state = shown[entry["number"]]
            assert time == entry["time"][:19].replace("T", " ")
            assert [analyst, about] == [entry["analyst"], ", ".join(entry["tables"])]
            assert Fraction(epsilon) == Fraction(entry["epsilon"])
            assert Fraction(delta) == Fraction(entry["delta"])
            assert state == entry["state"]
        assert f"<dd>{head['number']}</dd>" in page
        assert head["hash"] in page
