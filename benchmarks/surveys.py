"""Our frequency oracles against those of multi-freq-ldpy and pure-ldp, per person.

One core, 1,000 answers, epsilon 1. We ask one million people, encode every answer and
count the reports; the peers do the same for 10,000, since their time per person does
not depend on how many there are. The target is against the slower of the two.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.stopwatch import Row, medians
from deniable import OLH, OUE

ANSWERS = 1000
EPSILON = 1.0
PEOPLE = 1_000_000
PEER_PEOPLE = 10_000
LEAST = 20
UNIT = "microseconds a person"

Poll = Callable[[np.ndarray], object]


def rows() -> Iterator[Row]:
    for what, ours in (("OUE", OUE), ("OLH", OLH)):
        design = ours(epsilon=EPSILON, categories=ANSWERS)
        peers = {"multi-freq-ldpy": multi_freq(what), "pure-ldp": pure_ldp(what)}
        yield from contest(what, design.poll, peers)


def contest(what: str, ours: Poll, peers: dict[str, Poll | str]) -> Iterator[Row]:
    """One row against each peer; the slower sets the target, the faster must be beaten."""
    contestants = {"ours": per_person(ours, PEOPLE)}
    for name, peer in peers.items():
        if callable(peer):
            contestants[name] = per_person(peer, PEER_PEOPLE)
    times = medians(contestants)
    theirs = {name: times[name] for name in peers if name in times}
    slower = max(theirs, key=lambda name: theirs[name], default=None)
    label = f"{what}, {ANSWERS:,} answers"
    for name, peer in peers.items():
        if not callable(peer):
            yield Row(label, UNIT, times["ours"], None, name, note=peer)
            continue
        ratio = theirs[name] / times["ours"]
        least = LEAST if name == slower else 1
        target = f"≥ {least}", ratio >= least
        yield Row(label, UNIT, times["ours"], theirs[name], name, ratio, *target)


def per_person(poll: Poll, people: int) -> Callable[[], float]:
    """A contestant that returns microseconds a person; tables are built first."""
    answers = np.arange(people) * 7919 % ANSWERS
    poll(answers[:10])

    def run() -> float:
        start = time.perf_counter()
        poll(answers)
        return (time.perf_counter() - start) / people * 1e6

    return run


def multi_freq(what: str) -> Poll | str:
    try:
        from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
    except ImportError:
        return "is not installed (extra: bench)"
    if what == "OUE":
        return lambda answers: UE_Aggregator_MI(
            [UE_Client(int(answer), ANSWERS, EPSILON, True) for answer in answers],
            EPSILON,
            True,
        )
    return lambda answers: LH_Aggregator_MI(
        [LH_Client(int(answer), ANSWERS, EPSILON, True) for answer in answers],
        ANSWERS,
        EPSILON,
        True,
    )


def pure_ldp(what: str) -> Poll | str:
    try:
        import pure_ldp.frequency_oracles as peer
    except ImportError:
        return "is not installed (extra: bench)"
    makers: dict[str, Callable[[], tuple[Any, Any]]] = {
        "OUE": lambda: (
            peer.UEClient(epsilon=EPSILON, d=ANSWERS, use_oue=True),
            peer.UEServer(epsilon=EPSILON, d=ANSWERS, use_oue=True),
        ),
        "OLH": lambda: (
            peer.LHClient(epsilon=EPSILON, d=ANSWERS, use_olh=True),
            peer.LHServer(epsilon=EPSILON, d=ANSWERS, use_olh=True),
        ),
    }

    def poll(answers: np.ndarray) -> object:
        client, server = makers[what]()
        for answer in answers:
            server.aggregate(client.privatise(int(answer) + 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that so few people say little
            return server.estimate_all(range(1, ANSWERS + 1))

    return poll
