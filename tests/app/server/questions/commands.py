"""A server as a command, with workers, as its owner starts it."""

import signal
import subprocess
import sys
from contextlib import contextmanager

from deniable.client.server_calls import ServerCalls
from tests.app.server.questions.asking import people_of

START = "from deniable.app.cli import main; main()"


@contextmanager
def serve(file, *options):
    """The address of a policy and the supervisor's process."""
    folder = file.parent.parent
    command = [sys.executable, "-c", START, "serve", str(file), "--port", "0", *options]
    command += ["--database", str(folder / "server.sqlite")]
    command += ["--requests-each", str(10**9)]  # tests ask again at once
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            told = process.stdout.readline()
            assert told, "the server did not start"
            yield told.split()[-1].replace("/v1/", "/"), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def caller(url, file, name="ann"):
    return ServerCalls(url, people_of(file.parent.parent).new_token(name))


def children_of(pid):
    """The processes that a process has started."""
    command = ["ps", "-o", "pid=", "--ppid", str(pid)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(word) for word in process.stdout.split()]
