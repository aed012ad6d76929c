"""One turn of a person at a time, few who wait, and no thread for who waits."""

import asyncio
import threading

import pytest

import deniable as dp
from deniable.app.server.children.turns import Turns


def test_beyond_the_limit_nobody_waits():
    async def take():
        async with Turns(0).of("ann"):
            pass

    with pytest.raises(dp.TooManyQuestions, match="wait for their turn: 0"):
        asyncio.run(take())


def test_a_turn_is_of_one_person_and_is_forgotten():
    async def take():
        turns = Turns(2)
        async with turns.of("ann"):
            assert turns._turns["ann"].locked()
            async with turns.of("bob"):  # who does not wait for ann
                assert {*turns._here} == {"ann", "bob"}
        assert not turns._here
        assert not turns._turns

    asyncio.run(take())


def test_long_work_of_two_people_is_done_one_after_the_other():
    async def take():
        turns = Turns(2)
        async with turns.of("ann", long=True):
            assert turns._long.locked()
            async with turns.of("bob"):  # whose work is short, and does not wait
                pass
        assert not turns._long.locked()

    asyncio.run(take())


def test_who_waits_holds_no_thread():
    """One works in a thread, apart from those that serve other requests."""

    async def take():
        turns, begun, end = Turns(16), threading.Event(), threading.Event()

        def work():
            begun.set()
            return end.wait()

        working = [asyncio.create_task(turns.run("ann", work)) for _ in range(16)]
        while not begun.is_set():
            await asyncio.sleep(0)
        assert turns._here["ann"] == 16
        held = turns._threads.borrowed_tokens
        assert await turns.run("bob", len, "bob") == 3  # while ann's work goes on
        end.set()
        assert all(await asyncio.gather(*working))
        assert held == 1

    asyncio.run(take())
