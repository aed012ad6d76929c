"""The OpenAPI document says what the server takes, and nothing that it allows breaks it."""

import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from deniable.app.server.accounts.role_matrix import MATRIX
from deniable.app.server.api_document import ROUTES, describe_interface
from tests.app.server.questions.asking import Asker, people_of, serving, write_hospital

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
ODD = (
    *(None, 0, -1, 1e308, 1e-320, 10**40, True, "", "find", "1/0", "1e999999", "\ud800", "\0"),
    *([], {}, [1], {"a": 1}, {"n": None}, [["ward", "A"]], [["ward", None]], [["ward", {}]]),
)
NAMES = (
    *("sql", "epsilon", "delta", "confidence", "margin", "relative", "of", "bounds", "weights"),
    *(
        "nonnegative",
        "other",
        "brackets",
        "by",
        "max_rows",
        "max_groups",
        "fresh",
        "question_id",
        "part",
        "expects",
        "table",
    ),
)
COUNT = {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": 1}
QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward",
    "SELECT ward, SUM(n) OVER () AS s FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY 1)",
    "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
    "SELECT * FROM visits",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return write_hospital(tmp_path_factory.mktemp("document"), epsilon=10**6)


@pytest.fixture(scope="module")
def client(place):
    limits = {"places": 2, "of_one": 10**6, "in_all": 10**6}
    with serving(place, openapi=True, metrics=True, limits=limits) as client:
        yield client


@pytest.fixture(scope="module")
def olga(client, place):
    return Asker(client, people_of(place.parent.parent).new_token("olga", role="owner"))


def test_the_document_has_every_route_of_the_matrix():
    console = {pair for pair in MATRIX if pair not in ROUTES}
    assert not {pair for pair in console if pair[1].startswith("/v1/")}
    assert ROUTES.keys() <= MATRIX.keys()


def test_only_people_read_it_and_only_if_it_is_configured(client, olga, place):
    assert client.get("/openapi.json").status_code == 401
    told = client.get("/openapi.json", headers=olga.headers)
    assert told.json() == describe_interface()
    with serving(place) as other:
        assert other.get("/openapi.json", headers=olga.headers).status_code == 404


def operations(document):
    loaded = schemathesis.openapi.from_dict(document)
    return {
        f"{operation.ok().method.upper()} {operation.ok().path}": operation.ok()
        for operation in loaded.get_all_operations()
    }


OPERATIONS = operations(describe_interface())


def send(client, case, headers):
    """Sends a case as it is, and says what came back."""
    given = case.as_transport_kwargs(base_url="http://testserver", headers=headers)
    prepared = requests.Request(
        **{name: given[name] for name in given.keys() & vars(requests.Request())}
    ).prepare()
    return client.request(
        prepared.method,
        prepared.url,
        headers=dict(prepared.headers) | headers,
        content=prepared.body,
        follow_redirects=False,
    )


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_that_is_sent_is_a_failure(client, olga, size, name, mode):
    """schemathesis makes requests that fit the document, and others that do not."""
    examples = size(small=3, full=1000, what=f"requests ({mode}) to each route")
    operation = OPERATIONS[name]
    statuses = set()
    strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))

    @hypothesis.settings(max_examples=examples, parent=hypothesis.settings.default)
    @hypothesis.given(case=strategy, question=hypothesis.strategies.sampled_from(QUESTIONS))
    def send_all(case, question):
        if "policy" in (case.path_parameters or {}):
            case.path_parameters["policy"] = "hospital"
        if mode == "positive" and isinstance(case.body, dict) and "sql" in case.body:
            case.body["sql"] = question  # texts at random are no SQL
        answer = send(client, case, olga.headers)
        statuses.add(answer.status_code)
        assert answer.status_code != 500, answer.text
        if mode == "positive":
            case.validate_response(answer, checks=CHECKS)

    send_all()
    if mode == "positive" and name.startswith("POST /v1/") and examples > 3:
        assert statuses & {200, 202}, statuses  # some of them were taken


def test_odd_values_are_refused_in_words(client, olga, size):
    """One name at a time, with a value of another type than it takes."""
    requests_of = (
        lambda odd: ("explain", COUNT | odd),
        lambda odd: ("explain", {"questions": [COUNT | odd]}),
        lambda odd: ("explain", {"profile": {"table": "visits", "epsilon": 1} | odd}),
        lambda odd: ("explain", {"profile": odd}),
        lambda odd: ("explain", {"limits": {"table": "visits", "epsilon": 1} | odd}),
        lambda odd: ("explain", {"limits": odd}),
        lambda odd: ("budget", {"tables": ["visits"]} | odd),
    )
    every = [make({name: value}) for make in requests_of for name in NAMES for value in ODD] + [
        ("explain", {name: value}) for name in ("questions", "profile") for value in ODD
    ]
    step = size(small=23, full=1, what="requests with odd values for each one that is sent")
    for path, told in every[::step]:
        answer = olga.post(path, told)
        assert answer.status_code in (200, 400), (path, told, answer.text)
