"""Connects to a server: `dp.connect`."""

from deniable.client.known_keys import pin_key
from deniable.client.remote_session import RemoteSession
from deniable.client.server_calls import ServerCalls
from deniable.errors import ServerUnavailable
from deniable.mechanisms.named_arguments import check_call
from deniable.release.public_session import Session


@check_call
def connect(url: str, *, token: str, key: str | None = None) -> Session:
    """A session about tables that a server keeps, as in `https://data.example.org/hospital`.

    It is used like the session of `dp.open`. `token` says who asks; the data owner gives it.
    `key` is the owner's public key, which must have signed every answer before a number is
    handed over. Without it, the key of first use is recorded, and a warning says so.

    >>> connect("http://data.example.org/hospital", token="dnb_...")
    Traceback (most recent call last):
    deniable.errors.InvalidParameter: Without https the token and the answers would travel...
    """
    calls = ServerCalls(url, token)
    answer = calls.get("tables")
    server_key = answer.get("key") if isinstance(answer, dict) else None
    if not isinstance(server_key, str):
        raise ServerUnavailable("The server did not answer as a Deniable server.")
    return RemoteSession(calls, answer, pin_key(calls.url, server_key, key))
