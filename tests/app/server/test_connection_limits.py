"""One address cannot hold all connections, and no address is kept."""

from types import SimpleNamespace

from uvicorn import Config
from uvicorn.server import ServerState

from deniable.app.server.connection_limits import (
    MOST_CONNECTIONS,
    OpenConnections,
    limited_protocol,
)


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
    made = protocol(config, state, {}, _loop=SimpleNamespace())
    transport = Transport(address)
    made.connection_made(transport)
    return made, transport


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
