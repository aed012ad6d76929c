import socket
import threading

import pytest

import deniable as dp
from deniable.app.cli.surveys import web_client
from deniable.app.cli.surveys.web_client import WebClient


def answer_once(text):
    """A server that answers one connection with this text; its URL."""
    bound = socket.create_server(("127.0.0.1", 0))

    def answer():
        connection, _ = bound.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(text)
        bound.close()

    thread = threading.Thread(target=answer)
    thread.start()
    return f"http://127.0.0.1:{bound.getsockname()[1]}/s/x", thread


@pytest.mark.parametrize(
    "url", ["survey.example.org", "ftp://a/s/x", "http:///s/x", "http://a/s/x?y=1"]
)
def test_what_is_no_address_of_a_survey(url):
    with pytest.raises(dp.InvalidParameter, match="looks like"):
        WebClient(url)


def test_a_redirect_is_not_followed():
    url, thread = answer_once(
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    )
    with WebClient(url) as client:
        assert client.get(client.path).status == 302
    thread.join()


def test_a_long_answer_is_refused(monkeypatch):
    monkeypatch.setattr(web_client, "_MOST_BYTES", 5)
    url, thread = answer_once(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n123456")
    with WebClient(url) as client, pytest.raises(dp.InvalidData, match="longer"):
        client.get(client.path)
    thread.join()


def test_a_server_that_is_not_there():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    with (
        WebClient(f"http://127.0.0.1:{port}/s/x") as client,
        pytest.raises(dp.CollectionUnavailable, match="does not answer"),
    ):
        client.get(client.path)


def test_nonsense_is_an_error_in_words():
    url, thread = answer_once(b"nonsense\r\n\r\n")
    with WebClient(url) as client, pytest.raises(dp.CollectionUnavailable):
        client.get(client.path)
    thread.join()
