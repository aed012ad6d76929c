"""Bits never repeat: not across forks, threads or blocks; and a script is followed exactly."""

import os
import threading

import numpy as np
import pytest

from deniable.exact.bits import SYSTEM, ScriptedBits, ScriptExhausted, SystemBits, draw_integer


def pairs(words):
    """128-bit draws, which coincide by chance with probability below 2**-90 here."""
    return set(zip(words[::2].tolist(), words[1::2].tolist(), strict=True))


def drawn_in_children(source, children, count):
    """What each of `children` forked processes draws from a source already in use."""
    source.draw(64, 1)
    drawn = []
    for _ in range(children):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, source.draw(64, count).tobytes())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            drawn.append(np.frombuffer(pipe.read(), dtype=np.uint64))
        os.waitpid(child, 0)
    return drawn


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_children_never_repeat_a_draw():
    drawn = [*drawn_in_children(SYSTEM, 64, 2000), SYSTEM.draw(64, 2000)]
    assert len(set().union(*map(pairs, drawn))) == 65 * 1000


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_source_that_forgets_to_forget_is_caught(monkeypatch):
    monkeypatch.setattr(SystemBits, "_forget", lambda self: None)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    first, second = drawn_in_children(SystemBits(), 2, 200)
    assert pairs(first) == pairs(second)


def test_threads_never_repeat_a_draw():
    drawn = []
    threads = [
        threading.Thread(target=lambda: drawn.append(SYSTEM.draw(64, 2000))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set().union(*map(pairs, drawn))) == 8000


def test_long_draws_are_not_made_of_repeated_blocks():
    assert len(pairs(SYSTEM.draw(64, 200_000))) == 100_000


def test_a_key_is_replaced_when_it_has_served(monkeypatch):
    source = SystemBits()
    source.draw(64, 4)
    first = source._local.cipher
    source._local.drawn = 1 << 40
    source.draw(64, 4)
    assert source._local.cipher is not first


@pytest.mark.parametrize("bits", [1, 7, 16, 17, 63, 64])
def test_every_bit_is_fair(bits, size):
    count = size(small=100_000, full=10_000_000, what="words, each bit judged")
    words = SYSTEM.draw(bits, count).astype(np.uint64)
    for place in range(bits):
        ones = int((words >> np.uint64(place) & np.uint64(1)).sum())
        assert abs(ones - count / 2) < 6.5 * (count / 4) ** 0.5  # one in 1e10
    assert bits == 64 or int(words.max()) < 1 << bits


def test_scripts_are_followed_and_end_loudly():
    script = ScriptedBits([5, 1])
    assert script.draw(3, 2).tolist() == [5, 1]
    with pytest.raises(ScriptExhausted) as ended:
        script.draw(9, 1)
    assert ended.value.bits == 9
    with pytest.raises(ValueError, match="8, which does not fit into 3 bits"):
        ScriptedBits([8]).draw(3, 1)


def test_long_integers_take_as_many_words_as_they_need():
    assert draw_integer(ScriptedBits([1, 2, 3]), 130) == (1 << 66) + (2 << 2) + 3
