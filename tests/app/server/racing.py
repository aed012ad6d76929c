"""Servers that are killed or race, and clients that try again. Run apart, by `run`.

Everything is imported once; servers and clients are forks. Clients send passes that were signed
beforehand, and try each until it is acknowledged.
"""

import contextlib
import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from multiprocessing import get_context
from pathlib import Path

from deniable.app.server.serving import ServerPlace, serve
from deniable.surveys.collect.store import database
from tests.app.server import surveying

# A process that is killed loses nothing that it gave to the system, so nothing waits for disks.
database.SQLITE_SETTINGS = (*database.SQLITE_SETTINGS, "PRAGMA synchronous = OFF")
FORKED = get_context("fork")
ROOT = Path(__file__).parents[3]


def start_server(folder, store, port):
    """A server in a fork; returns when it listens."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        collection = surveying.open_survey(Path(folder), "pass", store=store)
        collection.store.write_batches()
        place = ServerPlace(port=port)
        application = surveying.application(collection)
        serve(application, place, ready=lambda url: os.write(tell, b"!"))
        os._exit(0)
    os.close(tell)
    assert os.read(ready, 1) == b"!", "the server did not start"
    os.close(ready)
    return child


def stop_server(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return bound.getsockname()[1]


def send(port, body):
    """One try: the status, or None if the connection broke."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/s/s/report", body, {"Content-Type": "text/plain"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def send_until_acknowledged(port, body):
    while True:
        status = send(port, body)
        if status == 200:
            return
        assert status in (None, 503), status
        time.sleep(0.002)


def run_threads(count, work):
    threads = [threading.Thread(target=work, args=(each,)) for each in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def prepare(folder, store, passes):
    """The survey, and as many passes as their pages would send them."""
    collection = surveying.open_survey(Path(folder), "pass", store=store)
    tickets = [surveying.make_pass(collection) for _ in range(passes)]
    return collection, tickets


def kill(folder, store, *, kills, passes):
    """Kills the server again and again while clients send; what it holds in the end."""
    collection, tickets = prepare(folder, store, passes)
    port, acknowledged = free_port(), FORKED.Value("q", 0)

    def client():
        numbers, lock = iter(range(passes)), threading.Lock()

        def work(_):
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                body = surveying.report_body(collection, number, **{"pass": tickets[number]})
                send_until_acknowledged(port, body)
                with acknowledged.get_lock():
                    acknowledged.value += 1
                if number % 7 == 0:  # a page that does not know, and another device
                    send(port, body)
                    other = {"pass": tickets[number]}
                    send(port, surveying.report_body(collection, 40_000 + number, **other))

        run_threads(8, work)
        os._exit(0)

    sender = FORKED.Process(target=client)
    server = start_server(folder, store, port)
    sender.start()
    for turn in range(1, kills + 1):
        while acknowledged.value < turn * passes // (kills + 1) and sender.is_alive():
            time.sleep(0.0005)
        time.sleep(secrets.randbelow(6_000) / 1e6)
        stop_server(server)
        server = start_server(folder, store, port)
    sender.join()
    stop_server(server)
    again = surveying.open_survey(Path(folder), "pass", store=store)
    again.store.write_batches()
    keys = len(again.store._keys.read())
    sizes = [len(batch.bodies) for batch in again.store.batches()]
    return {
        "acknowledged": acknowledged.value,
        "client": sender.exitcode,
        "keys": keys,
        "sizes": sizes,
        "held": surveying.collected(again),
    }


def race(folder, store, *, clients, passes):
    """Clients that all send every pass to two servers, each with a report of its own."""
    collection, tickets = prepare(folder, store, passes)
    ports = [free_port(), free_port()]
    servers = [start_server(folder, store, port) for port in ports]
    statuses = FORKED.SimpleQueue()

    def client():
        start, seen = threading.Barrier(clients), set()

        def work(mine):
            start.wait()
            for turn in range(passes):
                number = (turn + mine) % passes
                ticket = {"pass": tickets[number]}
                body = surveying.report_body(collection, number * 64 + mine, **ticket)
                seen.add(send(ports[mine % 2], body))

        run_threads(clients, work)
        statuses.put(sorted(map(str, seen)))
        os._exit(0)

    sender = FORKED.Process(target=client)
    sender.start()
    seen = statuses.get()
    sender.join()
    for server in servers:
        stop_server(server)
    return {"statuses": seen, "held": surveying.collected(collection)}


def run(job, folder, store, **how):
    """Runs a job in a process of its own and returns what it found."""
    task = {"job": job, "folder": str(folder), "store": store} | how
    done = subprocess.run(
        [sys.executable, "-m", "tests.app.server.racing"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # the servers' log: nothing about anybody
    return json.loads(done.stdout)


if __name__ == "__main__":
    given = json.loads(sys.stdin.read())
    with contextlib.redirect_stdout(sys.stderr):
        outcome = {"kill": kill, "race": race}[given.pop("job")](**given)
    print(json.dumps(outcome))
