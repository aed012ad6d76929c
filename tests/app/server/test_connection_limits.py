"""One address cannot hold all connections, and no address is kept."""

import asyncio
import functools

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from deniable.app.server.connection_limits import (
    MOST_CONNECTIONS,
    REQUEST_SECONDS,
    OpenConnections,
    limited_protocol,
)

LOOP = asyncio.new_event_loop()


class Transport:
    """What a protocol needs of a connection, from any address."""

    def __init__(self, address):
        self.address, self.aborted = address, False

    def get_extra_info(self, name, default=None):
        return (self.address, 5000) if name == "peername" else default

    def abort(self):
        self.aborted = True

    close = abort


def connect(protocol, address, state):
    config = Config(lambda: None, http=protocol, log_config=None)
    connection = protocol(config, state, {}, _loop=LOOP)
    transport = Transport(address)
    connection.connection_made(transport)
    return connection, transport


def test_one_address_leaves_room_for_others():
    open_ones = OpenConnections()
    protocol, state = limited_protocol(open_ones), ServerState()
    held = [connect(protocol, "192.0.2.7", state) for _ in range(MOST_CONNECTIONS)]
    assert not any(transport.aborted for _, transport in held)
    refused, transport = connect(protocol, "192.0.2.7", state)
    assert transport.aborted
    assert connect(protocol, "::ffff:192.0.2.7", state)[1].aborted  # the same address
    assert not connect(protocol, "192.0.2.8", state)[1].aborted
    refused.connection_lost(None)  # gives no place free: it had none
    assert connect(protocol, "192.0.2.7", state)[1].aborted
    held.pop()[0].connection_lost(None)
    assert not connect(protocol, "192.0.2.7", state)[1].aborted
    assert connect(protocol, "192.0.2.7", state)[1].aborted


def test_this_machine_is_not_limited():
    """A proxy on it speaks for everybody, and limits them itself."""
    protocol, state = limited_protocol(OpenConnections(1)), ServerState()
    for address in ("127.0.0.1", "::1", "127.0.0.1"):
        assert not connect(protocol, address, state)[1].aborted


def test_what_has_ended_is_forgotten_and_no_address_is_kept():
    open_ones = OpenConnections(3)
    for _ in range(2):
        assert open_ones.add("192.0.2.77")
    assert b"\xc0\x00\x02M" not in b"".join(open_ones._open)
    for _ in range(2):
        open_ones.remove("192.0.2.77")
    assert not open_ones._open


def test_a_connection_has_some_seconds_for_its_request():
    protocol, state = limited_protocol(OpenConnections()), ServerState()
    connection, _ = connect(protocol, "192.0.2.7", state)
    waiting = connection.patience
    assert 0 < waiting.when() - LOOP.time() <= REQUEST_SECONDS
    connection.connection_lost(None)
    assert waiting.cancelled()


async def _answer(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    length = [(b"content-length", b"4")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": b"done"})


def _served(act, *, request_seconds=0.5):
    """What a client sees of a server whose connections have half a second for a request."""

    async def run():
        loop = asyncio.get_running_loop()
        protocol = limited_protocol(OpenConnections(), seconds=request_seconds)
        config = Config(_answer, http=protocol, log_config=None, lifespan="off")
        config.load()
        make = functools.partial(protocol, config, ServerState(), {}, _loop=loop)
        listening = await loop.create_server(make, "127.0.0.1", 0)
        async with listening:
            port = listening.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                return await act(reader, writer)
            finally:
                writer.close()

    return asyncio.run(run())


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD, HEAD + b"\r\n", HEAD + b"\r\nbod"])
def test_a_request_that_does_not_end_is_closed(sent):
    async def act(reader, writer):
        writer.write(sent)
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""

    assert _served(act) == b""


def test_a_slow_second_request_is_closed_and_whole_ones_are_answered():
    async def act(reader, writer):
        for _ in range(3):
            writer.write(HEAD + b"\r\nbody")
            assert (await reader.readuntil(b"done")).startswith(b"HTTP/1.1 200")
        writer.write(HEAD)
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""

    assert _served(act, request_seconds=2.0) == b""
