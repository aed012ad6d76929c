import html
import json
import re
from fractions import Fraction

import pytest

from deniable.app.server.console.asked_form import AskedForm
from deniable.app.server.questions.admission import Admission
from deniable.errors import TooManyQuestions
from deniable.release.answer.formatting import format_margin
from tests.app.server.console.conftest import wait_for

COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
QUESTIONS = [
    ({"by": "epsilon", "epsilon": "0.25"}, COUNTS),
    ({"by": "margin", "margin": "25"}, COUNTS),
    ({"by": "stop", "stop": "2"}, "SELECT AVG(cost) AS cost, SUM(age) AS age FROM visits"),
    ({"by": "epsilon", "epsilon": "1/7"}, "SELECT COUNT(DISTINCT patient) AS n FROM visits"),
    ({"by": "epsilon", "epsilon": "0.5", "confidence": "0.99"}, COUNTS),
]


def text_of(page):
    """The text of a page as people read it."""
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", page.text)).split())


def hidden(page, name):
    return re.search(f'name="{name}" value="([^"]*)"', page.text)[1]


@pytest.mark.parametrize(("choices", "sql"), QUESTIONS)
def test_every_number_of_the_preview_is_that_of_the_interface(hospital, choices, sql):
    ann = hospital.visitor("ann")
    page = ann.submit("/console/hospital/preview", sql=sql, **choices)
    told = AskedForm.read({"sql": sql} | choices).request()
    api = ann._send("POST", "/v1/hospital/explain", content=json.dumps(told)).json()
    assert hidden(page, "expects") == api["plan_hashes"][0]
    assert Fraction(re.search('data-epsilon="([^"]*)"', page.text)[1]) == Fraction(
        api["epsilon"]
    )
    shown = text_of(page)
    left = ann.get("/v1/hospital/budget").json()["epsilon"]
    price = re.search('data-epsilon="([^"]*)"', page.text)[1]
    assert f"Costs {price} of your {Fraction(left)}" in shown
    assert f"{api['how_many']} more question" in shown or api["how_many"] == 1
    for line in api["text"].splitlines()[:-1]:  # the last one is the kernel's
        assert " ".join(line.split("─ ")[-1].split()) in shown
    assert api["text"].splitlines()[-1].partition("checked: ")[2] in shown
    for margin in re.findall(r"± (?:about )?([\d,.]+) at 9", api["text"]):
        assert f"{format_margin(float(margin.replace(',', '')))}" in shown


@pytest.mark.parametrize(
    ("epsilon", "place", "label"),
    [
        *(("0.05", 1, "very private"), ("0.222", 2, "private"), ("1.0986", 3, "in between")),
        *(("2", 4, "precise"), ("4", 5, "very precise"), ("7", 5, "beyond the last stop")),
    ],
)
def test_the_scale_stands_where_the_sentences_place_it(hospital, epsilon, place, label):
    page = hospital.visitor("ann").submit(
        "/console/hospital/preview", sql=COUNTS, by="epsilon", epsilon=epsilon
    )
    assert f'data-stop="{place}"' in page.text
    assert re.search(rf"On the scale from private to precise: {label}[ .(]", text_of(page))


def test_nothing_is_spent_by_looking(hospital):
    ben = hospital.visitor("ben")
    before = ben.get("/v1/hospital/budget").json()
    for choices, sql in QUESTIONS:
        ben.submit("/console/hospital/preview", sql=sql, **choices)
        ben.submit("/console/hospital/ask", sql=sql, **choices)
    assert ben.get("/v1/hospital/budget").json() == before
    assert ben.get("/v1/hospital/ledger/entries").json() == []


def test_only_the_plan_whose_price_was_shown_is_asked(hospital):
    ann = hospital.visitor("ann")
    cheap = {"sql": COUNTS, "by": "epsilon", "epsilon": "0.01"}
    expects = hidden(ann.submit("/console/hospital/preview", **cheap), "expects")
    before = ann.get("/v1/hospital/budget").json()
    dear = cheap | {"epsilon": "0.5", "expects": expects}
    refused = ann.submit("/console/hospital/releases", **dear)
    assert refused.status_code == 400
    assert "Nothing was spent" in text_of(refused)
    assert "Ask: spend 0.5" in text_of(refused)  # now its price is shown
    assert ann.submit("/console/hospital/releases", **cheap).status_code == 400
    assert ann.get("/v1/hospital/budget").json() == before


def test_pressing_twice_asks_once(hospital):
    ann = hospital.visitor("ann")
    form = {"sql": "SELECT MAX(age) AS a FROM visits", "by": "epsilon", "epsilon": "0.05"}
    page = ann.submit("/console/hospital/preview", **form)
    form |= {name: hidden(page, name) for name in ("expects", "question_id")}
    first, second = (ann.submit("/console/hospital/releases", **form) for _ in range(2))
    assert first.status_code == second.status_code == 303
    assert first.headers["location"] == second.headers["location"]
    charges = ann.get("/v1/hospital/ledger/entries").json()
    assert len([entry for entry in charges if entry["epsilon"] == "1/20"]) == 1
    wait_for(ann, first.headers["location"])
    again = text_of(ann.submit("/console/hospital/preview", **form))
    assert "Ask again: free" in again


def test_a_question_is_found_again_by_who_asked_it(hospital):
    ann, sql = hospital.visitor("ann"), "SELECT MIN(age) AS a FROM visits"
    form = {"sql": sql, "by": "epsilon", "epsilon": "0.04"}
    page = ann.submit("/console/hospital/preview", **form)
    form |= {name: hidden(page, name) for name in ("expects", "question_id")}
    answer = ann.submit("/console/hospital/releases", **form).headers["location"]
    [again] = re.findall(r'href="([^"]*[?]release=[^"]*)"', wait_for(ann, answer).text)
    shown = ann.get(again)
    assert f">{sql}</textarea>" in shown.text
    assert "Ask again: free" in text_of(shown)
    # It would not be free for others, who have budgets of their own.
    assert "Ask again" not in hospital.visitor("olga").get(answer).text
    for person, address in (("ben", again), ("olga", again), ("ann", again[:-1])):
        assert hospital.visitor(person).get(address).status_code == 404


@pytest.mark.parametrize(
    ("fields", "sql"),
    [
        ({"measure": "count"}, "SELECT COUNT(*) AS n\nFROM visits"),
        (
            {"measure": "avg", "column": "0.2", "group": "0.1"},
            "SELECT ward, AVG(cost) AS avg\nFROM visits\nGROUP BY ward",
        ),
        (
            {"measure": "units", "where": "0.1", "sign": "=", "value": "o'clock"},
            "SELECT COUNT(DISTINCT patient) AS n\nFROM visits\nWHERE ward = 'o''clock'",
        ),
        (
            {"measure": "sum", "column": "0.3", "where": "0.2", "sign": ">=", "value": "12"},
            "SELECT SUM(age) AS sum\nFROM visits\nWHERE cost >= 12",
        ),
    ],
)
def test_the_form_writes_sql(hospital, fields, sql):
    page = hospital.visitor("ann").submit(
        "/console/hospital/ask", act="write", table="0", by="epsilon", epsilon="0.1", **fields
    )
    written = re.search(r"<textarea id=\"sql\"[^>]*>([^<]*)<", page.text)[1]
    assert html.unescape(written) == sql
    assert "This cannot be asked" not in text_of(page)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"measure": "avg"}, "Choose a column"),
        ({"measure": "avg", "column": "3.1"}, "columns of the table visits only"),
        ({"table": "9"}, "Choose a table"),
        ({"where": "0.2", "value": "1 OR 1=1"}, "compare it with a number"),
        ({"where": "0.2", "value": "1e5000"}, "compare it with a number"),  # with 5,000 digits
        ({"where": "0.1", "sign": "; DROP", "value": "x"}, "how the column is compared"),
    ],
)
def test_the_form_refuses_what_is_not_in_its_lists(hospital, fields, words):
    page = hospital.visitor("ann").submit(
        "/console/hospital/ask", **({"act": "write", "table": "0"} | fields)
    )
    assert words in text_of(page)


def test_a_refused_choice_keeps_all_that_was_typed_and_chosen(hospital):
    typed = {"sql": "SELECT COUNT(*) AS mine FROM visits", "by": "margin", "margin": "77"}
    choices = {"measure": "avg", "group": "0.1", "where": "0.3", "sign": ">=", "value": '"9'}
    page = (
        hospital.visitor("ann")
        .submit("/console/hospital/ask", act="write", confidence="0.99", **typed, **choices)
        .text
    )
    assert "Choose a column for the average." in html.unescape(page)
    assert f">{typed['sql']}</textarea>" in page
    assert re.search(r'name="margin"[^>]* value="77"', page)
    selected = re.findall(r'<option value="([^"]*)" selected>', page)
    assert selected == ["0.99", "avg", "0.1", "0.3", "&gt;="]
    assert re.search(r'name="value"[^>]* value="&#34;9"', page)
    assert re.search(r'<details class="card" open>\s*<summary>Write the question', page)


def test_a_script_that_asks_is_led_to_the_answer_as_a_page(hospital):
    ann = hospital.visitor("ann")
    form = {"sql": "SELECT MAX(age) AS a FROM visits", "by": "epsilon", "epsilon": "0.02"}
    page = ann.submit("/console/hospital/preview", **form)
    form |= {name: hidden(page, name) for name in ("expects", "question_id")}
    form["form_token"] = ann.token()
    told = ann.post("/console/hospital/releases", form, headers={"HX-Request": "true"})
    assert (told.status_code, told.text) == (204, "")
    assert told.headers["hx-redirect"].startswith("/console/hospital/releases/")
    assert ann.get(told.headers["hx-redirect"]).status_code == 200


@pytest.mark.parametrize(
    ("told", "offered"),
    [
        ({"epsilon": "1/50", "confidence": 0.9}, True),
        ({"epsilon": 0.0125, "confidence": "99/100"}, True),
        ({"epsilon": "1/60", "nulls": False, "fresh": False}, True),
        ({"epsilon": "1/70", "nulls": True}, False),
        ({"epsilon": "1/80", "confidence": 0.8}, False),
    ],
)
def test_only_what_the_form_can_say_is_offered_again(hospital, told, offered):
    """With other options it would be another question, and cost again."""
    ann, sql = hospital.visitor("ann"), "SELECT ward, MIN(cost) AS c FROM visits GROUP BY ward"
    sent = ann._send("POST", "/v1/hospital/releases", content=json.dumps({"sql": sql} | told))
    answer = wait_for(ann, f"/console/hospital/releases/{sent.json()['id']}").text
    again = re.findall(r'href="([^"]*[?]release=[^"]*)"', answer)
    assert len(again) == offered
    for address in again:
        assert "Ask again: free" in text_of(ann.get(address))


@pytest.mark.parametrize("number", ["", "x", "-1", "1e999999999", "1/0", "1,5", "9" * 60, "٣"])
def test_a_number_that_is_none_is_refused_in_words(hospital, number):
    page = hospital.visitor("ann").submit(
        "/console/hospital/preview", sql=COUNTS, by="margin", margin=number
    )
    assert page.status_code == 200
    assert "Write the margin as a number" in text_of(page)


def test_no_question_is_refused_in_words(hospital):
    page = hospital.visitor("ann").submit("/console/hospital/preview", sql="", margin="20")
    assert "The question is empty. Write SQL" in text_of(page)


def test_a_preview_takes_a_turn_of_its_person(hospital, monkeypatch):
    """Planning is free and keeps a processor busy, whether or not it is asked in a browser."""
    turns = []

    async def take(admission, person, body, act, *given):
        turns.append((person.name, json.loads(body)["sql"]))
        if len(turns) > 1:
            raise TooManyQuestions("Requests of yours wait for their turn: 16.")
        return act(*given)

    monkeypatch.setattr(Admission, "plan", take)
    ann, form = hospital.visitor("ann"), {"sql": COUNTS, "by": "epsilon", "epsilon": "0.1"}
    pages = [ann.submit("/console/hospital/preview", **form).text for _ in range(2)]
    assert turns == [("ann", COUNTS)] * 2
    assert ["wait for their turn" in page for page in pages] == [False, True]
