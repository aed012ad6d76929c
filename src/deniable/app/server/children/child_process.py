"""One child with an engine: how it is started, asked and ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from deniable.app.server.children.messages import PipeBroken, PipeTimeout, receive, send
from deniable.errors import InvalidPolicy, ServerUnavailable
from deniable.policy import Policy
from deniable.policy.source_addresses import is_address, read_address
from deniable.policy.written_policy import write_policy

_START_SECONDS = 600.0  # to open the sources: CSV files are read once, then
# What a process needs to run at all; nothing that could hold a secret of the server.
_USUAL = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_OF_ENGINES = {"postgresql": "PG", "spark": "SPARK_", "ibis": ""}
_ALSO = {"spark": ("JAVA_HOME", "DENIABLE_SPARK_TOKEN")}


@dataclass(frozen=True, slots=True)
class ChildSources:
    """What a child is told: the sources and what is declared about them, and no more."""

    told: Mapping[str, Any] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, policy: Policy) -> "ChildSources":
        """The sources of a policy, which must be files or addresses."""
        sources = {name: table.source for name, table in policy.tables.items()}
        frames = [name for name, source in sources.items() if not isinstance(source, str)]
        if frames:
            raise InvalidPolicy(
                f"A server needs sources that another process can open. {frames[0]!r} is not "
                "a file or an address."
            )
        declared = write_policy(policy) | {"units": {}, "analysts": {}}
        remote = [source for source in sources.values() if is_address(source)]
        settings = {"policy": declared, "sources": sources, "memory": policy.memory}
        return cls(settings | {"offline": not remote}, _environment(remote))

    @classmethod
    def made_up(cls, policy: Policy) -> "ChildSources":
        """No sources: made-up rows that fit what a policy with its schemas declares."""
        declared = write_policy(policy) | {"units": {}, "analysts": {}}
        settings = {"policy": declared, "sources": None, "memory": policy.memory}
        return cls(settings | {"offline": True}, _environment([]))


def _environment(remote: list[str]) -> dict[str, str]:
    """The variables that a child gets: the usual ones, and those that its sources name."""
    allowed = {name: os.environ[name] for name in _USUAL if name in os.environ}
    for source in remote:
        engine = read_address(source).engine
        prefix = _OF_ENGINES[engine]
        named = {name for name in os.environ if prefix and name.startswith(prefix)}
        named |= set(_ALSO.get(engine, ()))
        if source.startswith("$"):
            named.add(source[1:].partition("#")[0])
        allowed |= {name: os.environ[name] for name in named if name in os.environ}
    return allowed


def start(environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """A new process, which waits to be told its sources."""
    return subprocess.Popen(
        [sys.executable, "-I", "-m", "deniable.app.server.children.engine_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        env=dict(environment),
        start_new_session=True,  # a signal for the server's group is not for it
    )


class ChildProcess:
    """A child that has opened its sources. It answers one request at a time."""

    def __init__(self, sources: ChildSources) -> None:
        self._process = start(sources.environment)
        try:
            opened, _ = self.ask(dict(sources.told), time.monotonic() + _START_SECONDS)
        except (PipeBroken, PipeTimeout):
            self.end()
            raise ServerUnavailable("A process for the engine could not be started.") from None
        if "refused" in opened:
            self.end()
            raise InvalidPolicy(opened["refused"])
        self.engine_name: str = opened["name"]
        self.runs_plan_text: bool = opened["runs_plan_text"]
        self.schemas: dict[str, dict[str, str]] = opened["schemas"]

    @property
    def id(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(
        self, request: dict[str, Any], deadline: float | None
    ) -> tuple[dict[str, Any], bytearray]:
        """The answer to one request. After an exception the child must be ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        send(self._process.stdin.fileno(), request, deadline=deadline)
        return receive(self._process.stdout.fileno(), deadline)

    def end(self) -> None:
        """Kills the process and everything that it started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
