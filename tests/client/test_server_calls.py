import json
import socket
import threading

import pytest

import deniable as dp
from deniable import errors
from deniable.app.server.problem_details import problem_of
from deniable.client.server_calls import ServerCalls, problem_from

TOKEN = "dnb_0"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://data.example.org/hospital", "in clear"),
        ("http://192.0.2.1/hospital", "in clear"),
        ("ftp://data.example.org/hospital", "is named like"),
        ("https://data.example.org", "is named like"),
        ("https:///hospital", "is named like"),
        ("https://ann:secret@data.example.org/hospital", "token=..."),
        ("https://data.example.org/hospital?token=dnb_1", "token=..."),
    ],
)
def test_addresses_that_would_tell_the_token_are_refused(url, why):
    with pytest.raises(dp.InvalidParameter) as refusal:
        ServerCalls(url, TOKEN)
    assert why in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("token", ["dnb_\r\nX: y", "dnb_ä", None, 7])
def test_a_token_is_plain_text(token):
    with pytest.raises(dp.InvalidParameter, match="`token` must be"):
        ServerCalls("https://data.example.org/hospital", token)


@pytest.mark.parametrize(
    "problem",
    [
        dp.BudgetExhausted("x"),
        dp.InvalidQuery("x"),
        dp.UnboundedColumn("x"),
        dp.AccessDenied("x"),
        dp.TooManyQuestions("x"),
        dp.LedgerUnavailable("x"),
        dp.EngineFailed("1a2b3c4d"),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_a_problem_is_the_same_error_on_both_sides(problem):
    told = json.loads(problem_of(problem).body)
    again = problem_from(told["status"], told)
    assert (type(again), str(again)) == (type(problem), str(problem))


@pytest.mark.parametrize("kind", ["budget-exhausted", "not-allowed", "unheard-of"])
def test_words_of_a_server_reach_no_terminal_as_they_are(kind):
    told = {"type": f"/problems/{kind}", "detail": "one\ntwo\x1b[2J"}
    assert str(problem_from(403, told)).startswith("one\ntwo\\x1b[2J")


@pytest.mark.parametrize("told", [None, [], {}, {"detail": 7}, {"detail": "x", "type": "y"}])
def test_anything_else_is_a_server_that_does_not_work(told):
    assert type(problem_from(500, told)) is errors.ServerUnavailable


def test_a_redirection_is_not_followed():
    """It would hand the token to somebody else."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        requests = []

        def answer():
            connection, _ = bound.accept()
            with connection:
                requests.append(connection.recv(65536))
                head = b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\n"
                connection.sendall(head + b"Content-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        calls = ServerCalls(f"http://127.0.0.1:{bound.getsockname()[1]}/hospital", TOKEN)
        with pytest.raises(dp.ServerUnavailable):
            calls.get("tables")
        thread.join()
    assert b"Bearer dnb_0" in requests[0]


def test_nobody_there_is_said():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    calls = ServerCalls(f"http://127.0.0.1:{port}/hospital", TOKEN)
    with pytest.raises(dp.ServerUnavailable, match="cannot be reached"):
        calls.get("tables")
