"""A body that says that it is too large is refused before a byte of it is read."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse

from deniable.app.server.declared_lengths import DeclaredLengths

MOST = 100


def ask(length, kind="http"):
    """The status that a client gets, and whether the application behind was asked."""
    sent, reached = [], []

    async def app(scope, receive, send):
        reached.append(scope)
        await PlainTextResponse("read")(scope, receive, send)

    async def receive():
        raise AssertionError("nothing may be read")

    async def send(message):
        sent.append(message)

    guard = DeclaredLengths(
        app, most=MOST, problem_of=lambda problem: PlainTextResponse("", problem.status_code)
    )
    headers = [] if length is None else [(b"content-length", length.encode())]
    asyncio.run(guard({"type": kind, "headers": headers}, receive, send))
    return sent[0]["status"], bool(reached)


@pytest.mark.parametrize("length", ["101", "9" * 400, "-1", "1e9", "²", ""])
def test_too_large_and_odd_lengths_are_refused_unread(length):
    assert ask(length) == (413, False)


@pytest.mark.parametrize("length", [None, "0", "100"])
def test_others_pass(length):
    assert ask(length) == (200, True)
