"""Few requests of a person at once: a few accounts never keep everybody else out."""

import asyncio
import threading
from collections import Counter

import anyio.to_thread
import pytest

import deniable as dp
from deniable.app.server.accounts.request_places import AT_ONCE, RequestPlaces
from deniable.app.server.console import console
from deniable.app.server.questions import question_routes
from tests.app.server.questions.asking import COUNT, Asker, people_of, serving, write_hospital

ACCOUNTS, EACH = ("mallory", "mirko", "mona"), 16
MANY = tuple(f"mallory{number}" for number in range(7))  # with six places each, more than 40


def test_a_person_has_some_places_and_others_have_theirs():
    async def take():
        places, here = RequestPlaces(2, 1), Counter()
        over = asyncio.Event()

        async def hold(person):
            async with places.of(person):
                here[person] += 1
                await over.wait()

        held = [asyncio.create_task(hold("ann")) for _ in range(3)]
        held.append(asyncio.create_task(hold("bob")))
        while not here["bob"]:
            await asyncio.sleep(0)
        assert here == {"ann": 2, "bob": 1}
        with pytest.raises(dp.TooManyQuestions, match="are being served: 3"):
            await hold("ann")
        over.set()
        await asyncio.gather(*held)
        assert here == {"ann": 3, "bob": 1}
        assert not places._here
        assert not places._places

    asyncio.run(take())


def test_a_place_is_free_again_after_a_failure_and_after_a_request_that_was_given_up():
    async def take():
        places = RequestPlaces(1, 1)

        async def hold(until):
            async with places.of("ann"):
                await until.wait()

        with pytest.raises(ZeroDivisionError):
            async with places.of("ann"):
                raise ZeroDivisionError
        for given_up in (0, 1):  # the one that is served, and the one that waits
            over = asyncio.Event()
            held = [asyncio.create_task(hold(over)) for _ in range(2)]
            await asyncio.sleep(0)
            held[given_up].cancel()
            over.set()
            ended = await asyncio.gather(*held, return_exceptions=True)
            assert [error is None for error in ended] == [given_up != 0, given_up != 1]
        assert not places._here
        assert not places._places

    asyncio.run(take())


@pytest.mark.parametrize("path", ["explain", "tables", "ledger/entries"])
def test_accounts_with_many_long_requests_leave_threads_to_others(tmp_path, monkeypatch, path):
    """48 requests, each of which works without end, and 40 threads to serve requests."""
    over, arrived = threading.Event(), Counter()

    def work_long(served, person, *_):
        if person.name in ACCOUNTS:
            arrived[person.name] += 1
            assert over.wait(600)
        return {}

    for act in ("explain_request", "describe_tables", "describe_entries"):
        monkeypatch.setattr(question_routes, act, work_long)
    admitted = admit_requests(monkeypatch)
    with serving(write_hospital(tmp_path)) as client:
        tokens = people_of(tmp_path)

        def ask(name):
            asker = Asker(client, tokens.new_token(name))
            send = (lambda: asker.post(path, COUNT)) if path == "explain" else None
            status.append((send or (lambda: asker.get(path)))().status_code)

        status = []
        threads = [
            threading.Thread(target=ask, args=(name,)) for name in ACCOUNTS for _ in range(EACH)
        ]
        for thread in threads:
            thread.start()
        free = settle(client, lambda: (len(admitted), arrived.total()), len(threads))
        ask("bob") if free else None
        over.set()
        for thread in threads:
            thread.join()
    assert free > 0
    assert status == [200] * (1 + len(threads))


LONG = {
    "console": [
        *("releases", "calculator", "budget", "ledger", "ask", "policy", "rehearse"),
        "releases/{answer}",
    ],
    "v1": ["ledger/entries", "releases/{answer}.csv"],
}


@pytest.mark.parametrize(
    ("part", "path"), [(part, path) for part, paths in LONG.items() for path in paths]
)
def test_accounts_with_long_pages_leave_threads_to_others(tmp_path, monkeypatch, part, path):
    """Seven accounts with as many requests for pages as they have places, and no page ends."""
    over, arrived = threading.Event(), Counter()

    def work_long(*_, **__):
        arrived["pages"] += 1
        assert over.wait(600)
        return ""

    admitted = admit_requests(monkeypatch)
    with serving(write_hospital(tmp_path)) as client:
        tokens = people_of(tmp_path)
        bob = Asker(client, tokens.new_token("bob"))
        answer = bob.ask().json()["id"]
        bob.wait(answer)
        address = f"/{part}/hospital/" + path.format(answer=answer)
        for module, act in (
            (console, "render"),
            (question_routes, "describe_entries"),
            (question_routes, "write_form"),
        ):
            monkeypatch.setattr(module, act, work_long)
        admitted.clear()

        def look(name):
            headers = {"Authorization": f"Bearer {tokens.new_token(name, role='owner')}"}
            status.append(client.get(address, headers=headers).status_code)

        status = []
        threads = [
            threading.Thread(target=look, args=(name,)) for name in MANY for _ in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        free = settle(client, lambda: (len(admitted), arrived.total()), len(threads))
        short = bob.get("budget").status_code if free else None
        over.set()
        for thread in threads:
            thread.join()
    assert short == 200
    assert status == [200] * len(threads)
    assert arrived["pages"] >= len(threads)


def settle(client, progress, requests):
    """Waits until all requests are admitted and go as far as they can, or until nothing moves
    any more; the threads that are free then."""
    seen, unchanged = progress(), 0
    while seen[0] < requests and seen[1] < 40 and unchanged < 5000:
        free = client.portal.call(free_threads)
        now = progress()
        seen, unchanged = now, unchanged + 1 if now == seen else 0
    for _ in range(300):
        free = client.portal.call(free_threads)
    return free


async def free_threads():
    return anyio.to_thread.current_default_thread_limiter().available_tokens


def admit_requests(monkeypatch):
    """Notes each request that wants a place."""
    admitted, of = [], RequestPlaces.of

    def note(self, person):
        admitted.append(person)
        return of(self, person)

    monkeypatch.setattr(RequestPlaces, "of", note)
    return admitted
