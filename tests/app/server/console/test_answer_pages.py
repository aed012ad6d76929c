import html
import json
import re

import pyarrow as pa
import pytest

import deniable as dp
from deniable.app.server.console.kept_answers import read_kept
from deniable.app.server.console.sampling_errors import describe_population
from deniable.app.server.questions import slots
from deniable.app.server.questions.question_queue import QuestionQueue
from deniable.app.web.console.answer_tables import round_to
from deniable.infer import population
from tests.app.server.console.conftest import open_hospital, wait_for
from tools.console_server import WARDS

COUNTS = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward"


def hidden(page, name):
    return re.search(f'name="{name}" value="([^"]*)"', page.text)[1]


def ask(visitor, sql, epsilon):
    """Asks by the pages; returns the address of the answer."""
    fields = {"sql": sql, "by": "epsilon", "epsilon": epsilon}
    page = visitor.submit("/console/hospital/preview", **fields)
    fields |= {name: hidden(page, name) for name in ("expects", "question_id")}
    return visitor.submit("/console/hospital/releases", **fields).headers["location"]


@pytest.fixture(scope="module")
def answer(hospital):
    """The address of an answer to ann."""
    return ask(hospital.visitor("ann"), COUNTS, "0.2")


def exact_cells(page):
    matches = re.findall(r'data-row="(\d+)" data-column="([^"]*)" data-exact="([^"]*)">', page)
    return [(int(row), html.unescape(column), exact) for row, column, exact in matches]


def test_every_number_of_an_answer_is_that_of_the_interface(hospital, answer):
    ann = hospital.visitor("ann")
    page = ann.get(answer)
    release = ann.get(answer.replace("/console/", "/v1/") + ".json")
    told = json.loads(release.content)
    cells = exact_cells(page.text)
    assert len(cells) == 4 * 7
    for row, column, exact in cells:
        value = told["rows"][row][column]
        assert exact == value if isinstance(value, str) else float(exact) == value
    shown = re.findall(r'data-column="n" data-exact="[^"]*">([^<]*)<', page.text)
    assert shown == [round_to(row["n"], row["n_margin"]) for row in told["rows"]]
    dp.verify(release.content)


def test_digits_are_no_finer_than_the_margin(hospital, answer):
    page = hospital.visitor("ann").get(answer).text
    for text in re.findall(r'data-column="cost" data-exact="[^"]*">([^<]*)<', page):
        assert re.fullmatch(r"[\d,]+0", text), text  # margins are several hundreds


def test_an_answer_is_there_for_its_asker_the_owner_and_the_auditor(hospital, answer):
    for person, status in (
        *(("ann", 200), ("olga", 200), ("audrey", 200), ("ben", 404)),
        *(("paul", 403), ("otto", 403), ("", 401)),
    ):
        visitor = hospital.visitor(person)
        assert visitor.get(answer).status_code == status, person
        assert visitor.get(f"{answer}/notebook").status_code == status, person


def test_sql_over_an_answer_costs_nothing_and_reads_nothing_else(hospital, answer):
    ann = hospital.visitor("ann")
    before = ann.get("/v1/hospital/budget").json()
    page = ann.submit(answer, over="SELECT SUM(n) AS total FROM answer")
    told = json.loads(ann.get(answer.replace("/console/", "/v1/") + ".json").content)["rows"]
    total = sum(row["n"] for row in told)
    assert re.search(rf"<td class=\"n\">{round_to(total, 999)}", page.text.replace("\n", ""))
    for sql in ("SELECT * FROM visits", "SELECT * FROM read_csv('visits.csv')", "DROP TABLE x"):
        refused = ann.submit(answer, over=sql)
        assert 'role="alert"' in refused.text, sql
    assert ann.get("/v1/hospital/budget").json() == before


def test_the_notebook_runs_and_checks_its_certificate(hospital, answer):
    notebook = json.loads(hospital.visitor("ann").get(f"{answer}/notebook").content)
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert list(names["rows"]["ward"]) == ["cardiology", "maternity", "oncology", "surgery"]
    markdown = "".join(notebook["cells"][0]["source"])
    assert COUNTS in markdown


def test_a_count_below_zero_is_explained(hospital):
    ann = hospital.visitor("ann")
    sql = "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 200 GROUP BY ward"
    pages = [ann.get(ask(ann, f"{sql}, ward" if i else sql, "0.01")).text for i in range(1)]
    for page in pages:
        shown = re.findall(r'data-column="n" data-exact="([^"]*)"', page)
        assert ("A count below zero is no mistake" in page) == any(
            float(text) < 0 for text in shown
        )


def test_a_public_link_is_the_owners_and_can_be_closed(hospital, answer):
    ann, olga, nobody = (hospital.visitor(name) for name in ("ann", "olga", ""))
    assert ann.submit(f"{answer}/public", act="open").status_code == 403
    assert olga.submit(f"{answer}/public", act="open").status_code == 303
    link = re.search(r'href="(/public/[\w-]+)"', olga.get(answer).text)[1]
    page = nobody.get(link)
    assert page.status_code == 200
    assert exact_cells(page.text) == exact_cells(ann.get(answer).text)
    assert "ann" not in re.sub("<[^>]+>", " ", page.text).split()  # who asked is not told
    dp.verify(nobody.get(f"{link}/json").content)
    assert nobody.get(f"{link}/record").status_code == 404
    assert nobody.get(f"{link}x").status_code == 404
    olga.submit(f"{answer}/public", act="close")
    assert nobody.get(link).status_code == 404
    assert nobody.get(f"{link}/csv").status_code == 404


def test_a_large_answer_is_a_small_page_and_a_whole_download(tmp_path):
    wards = tuple(f"ward {number} of a large hospital" for number in range(240))
    with open_hospital(tmp_path, hospital={"wards": wards}) as large:
        ann = large.visitor("ann")
        sql = COUNTS.replace(" FROM", ", SUM(age) AS s FROM")
        address = ask(ann, sql, "1")
        page = wait_for(ann, address)
        rows = {row for row, _, _ in exact_cells(page.text)}
        assert rows == set(range(len(rows)))
        assert f"{240 - len(rows)} more rows are in the downloads." in page.text
        told = json.loads(ann.get(address.replace("/console/", "/v1/") + ".json").content)
        assert len(told["rows"]) == 240
        name = address.rpartition("/")[2]
        both = ann.get(f"/console/hospital/calculator?release={name}&other={name}")
        for shown in (page, both):
            assert shown.status_code == 200
            assert len(shown.content) <= 150_000


def test_before_its_slot_has_ended_an_answer_is_only_on_its_way(hospital, answer, monkeypatch):
    ann = hospital.visitor("ann")
    before = ann.get("/console/hospital/releases").text
    monkeypatch.setattr(slots, "now", lambda: 0.0)  # every slot is still to come
    page = ann.get(answer)
    assert "The answer is on its way" in page.text
    assert int(page.headers["refresh"]) > 1000
    assert exact_cells(page.text) == []
    assert ann.get(f"{answer}/notebook").status_code == 404
    gallery = ann.get("/console/hospital/releases").text
    assert "certificate" in before
    assert "certificate" not in gallery
    assert "waiting" in gallery


def test_noise_and_sampling_are_apart_and_those_of_population(hospital):
    """Each number is that of `release.population()`; the page of counts alone has no such."""
    ann = hospital.visitor("ann")
    sql = "SELECT ward, COUNT(cost) AS n, AVG(cost) AS mean FROM visits GROUP BY ward"
    address = ask(ann, sql, "0.3")
    page = ann.get(address).text.partition("Noise and sampling apart")[2]
    queue = QuestionQueue(hospital.identities.people.database)
    kept = read_kept(queue.find("hospital", address.rpartition("/")[2], "ann"))
    rows = re.findall(r'<tr><th scope="row">mean of (.*?)</th>(.*?)</tr>', page)
    columns = kept.release.population()
    assert [ward for ward, _ in rows] == list(WARDS)
    for inferred, (_, cells) in zip(columns, rows, strict=True):
        value, noise, sampling, low, high = re.findall(r'class="n">([^<]*)<', cells)
        assert value == round_to(inferred.value, inferred.margin)
        for half, ends in ((noise, inferred.noise), (sampling, inferred.sampling)):
            widest = max(inferred.value - ends[0], ends[1] - inferred.value)
            assert half == round_to(widest, widest)
        assert float(low.replace(",", "")) <= inferred.low
        assert float(high.replace(",", "")) >= inferred.high
    counts = ann.get(ask(ann, "SELECT COUNT(*) AS n FROM visits", "0.05")).text
    assert "Noise and sampling apart" not in counts


def test_a_page_infers_no_more_numbers_than_it_shows(monkeypatch):
    """Two thousand groups would keep a processor busy for half a minute at each view."""
    calls, wards = [], [str(number) for number in range(60)]
    infer = population._infer_mean
    monkeypatch.setattr(
        population, "_infer_mean", lambda *given: calls.append(1) or infer(*given)
    )
    rows = pa.table({"ward": wards * 9, "cost": [1.0] * 540})
    visits = dp.protect(rows, keys={"ward": wards}, bounds={"cost": (0, 9)}, epsilon=9)
    sql = "SELECT ward, COUNT(cost) AS n, AVG(cost) AS m FROM data GROUP BY ward"
    shown = describe_population(visits.sql(sql, epsilon=9))
    assert len(shown.rows) == 20
    assert shown.more
    assert len(calls) == 21
