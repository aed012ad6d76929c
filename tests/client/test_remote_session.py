"""One contract over memory, SQLite, PostgreSQL and HTTP."""

import base64
import json
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import uvicorn

import deniable as dp
from deniable.app.server.questions.opened_server import make_server
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.server_settings import ServerSettings
from deniable.app.server.serving import ServerPlace, bind
from deniable.client import remote_session, server_calls
from deniable.client.server_calls import ServerCalls, problem_from
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import from_bytes, to_bytes
from deniable.release.session.release_records import receipt_text
from tests.app.server.questions.asking import people_of, write_hospital
from tests.client.conftest import open_in_memory
from tests.client.contract import COUNT, SessionContract


@contextmanager
def listening(file, **changes):
    """A server on loopback, in a thread of this process; its address."""
    settings = ServerSettings(
        (file,),
        file.parent.parent / "server.sqlite",
        limits=QueueLimits(places=1),
        **({"padded": False} | changes),
    )
    application = make_server(settings, https=False)
    place = ServerPlace(port=0)
    with bind(place) as bound:
        config = uvicorn.Config(application, log_config=None, lifespan="on", ws="none")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield place.url(bound.getsockname()[1])
        finally:
            running.should_exit = True
            thread.join()


@contextmanager
def connected(file, **changes):
    """A session with a server, as ann."""
    with listening(file, **changes) as url:
        token = people_of(file.parent.parent).new_token("ann")
        key = (file.parent / "deniable.ledger.key.pub").read_text().strip()
        yield dp.connect(f"{url}/hospital", token=token, key=key)


class TestMemory(SessionContract):
    @pytest.fixture
    def session(self, tmp_path):
        with open_in_memory(tmp_path) as session:
            yield session

    @pytest.fixture(scope="class")
    @classmethod
    def unspent(cls, tmp_path_factory):
        with open_in_memory(tmp_path_factory.mktemp("unspent")) as session:
            yield session


class TestSQLite(SessionContract):
    @pytest.fixture
    def session(self, tmp_path):
        with dp.open(str(write_hospital(tmp_path, epsilon=50))) as session:
            yield session

    @pytest.fixture(scope="class")
    @classmethod
    def unspent(cls, tmp_path_factory):
        file = write_hospital(tmp_path_factory.mktemp("unspent"), epsilon=50)
        with dp.open(str(file)) as session:
            yield session


@pytest.mark.needs("postgresql")
class TestPostgreSQL(SessionContract):
    @pytest.fixture
    def session(self, tmp_path, new_ledger):
        file = write_hospital(tmp_path, epsilon=50, ledger=new_ledger())
        with dp.open(str(file)) as session:
            yield session

    @pytest.fixture(scope="class")
    @classmethod
    def unspent(cls, tmp_path_factory, new_ledger):
        folder = tmp_path_factory.mktemp("unspent")
        file = write_hospital(folder, epsilon=50, ledger=new_ledger())
        with dp.open(str(file)) as session:
            yield session


class TestHTTP(SessionContract):
    @pytest.fixture
    def session(self, tmp_path):
        with connected(write_hospital(tmp_path, epsilon=50)) as session:
            yield session

    @pytest.fixture(scope="class")
    @classmethod
    def unspent(cls, tmp_path_factory):
        file = write_hospital(tmp_path_factory.mktemp("unspent"), epsilon=50)
        with connected(file) as session:
            yield session


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server, its people and its owner's key."""
    file = write_hospital(tmp_path_factory.mktemp("server"), epsilon=1000)
    with listening(file) as url:
        key = (file.parent / "deniable.ledger.key.pub").read_text().strip()
        yield f"{url}/hospital", people_of(file.parent.parent), key


@pytest.fixture
def session(server):
    url, people, key = server
    return dp.connect(url, token=people.new_token("ann"), key=key)


def test_what_needs_the_owners_machine_is_refused_in_words(session):
    refused = {
        "copy": lambda: session.copy("visits", columns=["ward", "cost"], epsilon=1),
        "crosstabs": lambda: session.crosstabs([["ward"]], table="visits", epsilon=1),
        "counter": lambda: session.counter("c", horizon=9, epsilon=1, table="staff"),
        "run": lambda: session.reserve_run(dp.PureLoss(1)),
    }
    left = str(session.remaining)
    for ask in refused.values():
        with pytest.raises(dp.Unsupported, match="on the owner's machine"):
            ask()
    assert str(session.remaining) == left


def test_a_plan_of_somebody_else_is_not_sent(session, tmp_path):
    with open_in_memory(tmp_path) as other:
        plan = other.plan(COUNT, epsilon=1)
    with pytest.raises(dp.Unsupported, match="was not made"):
        session.release(plan)


def test_another_plan_is_refused_before_the_charge(session, monkeypatch):
    """A server with another version of the planner must not charge for its own plan."""
    plan = session.plan("SELECT COUNT(*) AS n FROM visits WHERE cost > 3", epsilon=1)
    session._requests[id(plan)][1]["options"]["epsilon"] = 2
    left = str(session.remaining)
    with pytest.raises(dp.InvalidParameter, match="another plan than yours"):
        session.release(plan)
    assert str(session.remaining) == left


@pytest.mark.parametrize("change", ["answer", "signature", "statement", "other"])
def test_no_number_without_its_certificate(session, monkeypatch, change):
    """Whatever stands between us and the server can change no number."""
    send = ServerCalls.send
    other = session.sql("SELECT COUNT(*) AS n FROM staff", epsilon=1)

    def tamper(self, method, path, told=None):
        status, answer = send(self, method, path, told)
        if path.endswith("/record"):
            record = json.loads(answer["record"])
            if change == "answer":
                record["answer"] = _another_answer(record["answer"])
            elif change == "signature":
                record["certificate"]["signature"]["value"] = "0" * 128
            elif change == "statement":
                record["certificate"]["statement"]["loss"]["epsilon"] = "0"
            else:
                record = json.loads(receipt_text(other.answer, other.certificate))
            answer["record"] = json.dumps(record)
        return status, answer

    monkeypatch.setattr(ServerCalls, "send", tamper)
    with pytest.raises(dp.LedgerBroken):
        session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1, fresh=True)


def _another_answer(written):
    answer = from_bytes(base64.b64decode(written))
    table = answer.table.set_column(0, "n", [[7]])
    return base64.b64encode(to_bytes(Answer(table, answer.margins))).decode()


@pytest.mark.parametrize(
    "told", [None, {}, {"id": 7}, {"wait": 0}, {"wait": "0", "id": "x"}], ids=str
)
@pytest.mark.parametrize("where", ["releases", "record"])
def test_what_no_server_of_ours_says_is_one_error(session, monkeypatch, where, told):
    send = ServerCalls.send

    def answer(self, method, path, body=None):
        if path.endswith(where):
            return 200, told
        return send(self, method, path, body)

    monkeypatch.setattr(ServerCalls, "send", answer)
    for ask in (
        lambda: session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1, fresh=True),
        lambda: session.release_all([session.plan(COUNT, epsilon=1)]),
    ):
        with pytest.raises(dp.ServerUnavailable, match="as a Deniable server"):
            ask()


def test_an_answer_at_its_slot(tmp_path):
    with connected(write_hospital(tmp_path), padded=True, slot=3.0) as session:
        begun = time.time()
        assert abs(session.sql(COUNT, epsilon=1).value - 2000) < 100
        assert time.time() >= begun + 3.0


@pytest.mark.parametrize(("refusals", "answered"), [(3, True), (10**6, False)])
def test_an_answer_is_not_given_up_because_many_requests_came(
    session, monkeypatch, refusals, answered
):
    """It was charged. The client waits, but not without end."""
    send, tried, pauses = ServerCalls.send, [], []

    def refuse(calls, method, path, told=None):
        if path.endswith("/record"):
            tried.append(path)
            if len(tried) <= refusals:
                raise problem_from(429, {"type": "/problems/too-many-requests", "detail": "x"})
        return send(calls, method, path, told)

    monkeypatch.setattr(ServerCalls, "send", refuse)
    monkeypatch.setattr(remote_session, "time", SimpleNamespace(sleep=pauses.append))
    if answered:
        assert session.sql(COUNT, epsilon=1).margin
        assert pauses.count(1.5) == refusals
    else:
        with pytest.raises(
            dp.TooManyQuestions, match=r"may be charged.*question_id='[0-9a-f]{32}'"
        ):
            session.sql(COUNT, epsilon=1)
        assert 60 < sum(pauses) < 600


@pytest.mark.parametrize(("refusals", "answered"), [(3, True), (10**6, False)])
def test_a_question_that_may_be_charged_is_not_given_up(
    session, monkeypatch, refusals, answered
):
    """The connection breaks after the server took it, and many requests came meanwhile."""
    exchange, posts, pauses = ServerCalls._exchange, [], []
    refusal = json.dumps({"type": "/problems/too-many-requests", "detail": "x"}).encode()
    plan, before = session.plan(COUNT, epsilon=1), session.remaining.epsilon

    def break_once(calls, method, path, body):
        if method != "POST" or not path.endswith("/releases"):
            return exchange(calls, method, path, body)
        posts.append(body)
        if 2 <= len(posts) <= 1 + refusals:
            return 429, refusal
        answer = exchange(calls, method, path, body)
        if len(posts) == 1:
            raise ConnectionResetError
        return answer

    monkeypatch.setattr(ServerCalls, "_exchange", break_once)
    for module in (remote_session, server_calls):
        monkeypatch.setattr(module, "time", SimpleNamespace(sleep=pauses.append))
    if answered:
        assert session.release(plan, fresh=True).value is not None
        assert len(posts) == 2 + refusals
    else:
        with pytest.raises(dp.TooManyQuestions) as given_up:
            session.release(plan, fresh=True)
        assert json.loads(posts[0])["question_id"] in str(given_up.value)
        assert 60 < sum(pauses) < 600
    assert len(set(posts)) == 1
    assert session.remaining.epsilon == before - 1


def test_a_question_that_was_never_taken_is_refused_at_once(session, monkeypatch):
    def refuse(calls, method, path, body):
        return 429, b'{"type": "/problems/too-many-questions", "detail": "x"}'

    plan, pauses = session.plan(COUNT, epsilon=1), []
    monkeypatch.setattr(ServerCalls, "_exchange", refuse)
    monkeypatch.setattr(remote_session, "time", SimpleNamespace(sleep=pauses.append))
    with pytest.raises(dp.TooManyQuestions):
        session.release(plan)
    assert pauses == []


def test_who_cannot_reach_the_server_is_told_the_questions_id(session, monkeypatch):
    plan, posts = session.plan(COUNT, epsilon=1), []

    def cut(calls, method, path, body):
        posts.append(body)
        raise ConnectionResetError

    monkeypatch.setattr(ServerCalls, "_exchange", cut)
    monkeypatch.setattr(server_calls, "time", SimpleNamespace(sleep=lambda _: None))
    with pytest.raises(dp.ServerUnavailable) as away:
        session.release(plan)
    assert json.loads(posts[0])["question_id"] in str(away.value)
