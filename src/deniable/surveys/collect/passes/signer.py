"""Signs in a process of its own, which holds the key and nothing else of the server's.

It is started by exec, with an empty environment and no files of ours open. It ends with the
server, however that ends, because its input ends then.
"""

import subprocess
import sys
import threading
from types import TracebackType

from deniable.errors import CollectionUnavailable, InvalidData
from deniable.surveys.collect.passes import signing_worker
from deniable.surveys.collect.passes.pass_keys import SecretPassKey

_LIMIT = 10.0  # seconds for one signature, which takes a few milliseconds


class PassSigner:
    """Signs blinded passes, one at a time.

    >>> secret = SecretPassKey.new()
    >>> waiting = secret.public.blind()
    >>> with PassSigner(secret) as signer:
    ...     ticket = secret.public.finish(waiting, signer.sign(waiting.blinded))
    >>> secret.public.is_valid(ticket)
    True
    """

    def __init__(self, secret: SecretPassKey, *, limit: float = _LIMIT) -> None:
        self._secret, self.key, self._limit = secret, secret.public, limit
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def check(self, blinded: bytes) -> None:
        """Refuses what is not a blinded message for this key, before anything is computed."""
        if len(blinded) != self.key.size or not 0 < int.from_bytes(blinded) < self.key.n:
            raise InvalidData("This is not a blinded pass for the key of this survey.")

    def sign(self, blinded: bytes) -> bytes:
        """The blind signature."""
        self.check(blinded)
        with self._lock:
            for _ in range(2):  # a process that has died is started again once
                answer = self._ask(blinded.hex())
                if answer:
                    break
                self._stop()
        if not answer or answer == signing_worker.REFUSED:
            raise CollectionUnavailable(
                "Passes cannot be signed now: the process that signs does not answer. The "
                "invitation is not used up. Try again later."
            )
        return int(answer, 16).to_bytes(self.key.size)

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            self._stop()

    def __enter__(self) -> "PassSigner":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, line: str) -> str:
        """One answer of the process; empty if it has died, or took too long and was ended."""
        try:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            alarm = threading.Timer(self._limit, process.kill)
            alarm.start()
            try:
                return process.stdout.readline().strip()
            finally:
                alarm.cancel()
        except OSError:
            return ""

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", signing_worker.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                text=True,
            )
            assert self._process.stdin is not None
            self._process.stdin.write(f"{self._secret.line}\n")
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
