"""What is changed while sessions are open: a file, a table, a policy. Never over the budget."""

import random

import pytest

from deniable.ledger.floor_mark import FloorMark
from deniable.ledger.journal import Journal
from tests.ledger.swapping import World, attacks, swap
from tools.postgresql import empty_place


@pytest.mark.parametrize(
    "store",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))],
)
def test_a_swap_while_sessions_are_open_mints_no_budget(store, size, tmp_path, request):
    """Every attack in turn, each time after another number of questions."""
    runs = size(small=2, full=200, what="swaps under open sessions on each store")
    server = request.getfixturevalue("postgresql") if store == "postgresql" else None
    named = list(attacks(server).items())
    draw, spent = random.Random(runs), {}
    if runs < len(named):
        named = draw.sample(named, runs)
    for turn in range(runs):
        name, attack = named[turn % len(named)]
        folder = tmp_path / str(turn)
        folder.mkdir()
        world = World(folder, server and empty_place(server))
        total = swap(world, attack, draw.randrange(4), draw.randrange(2))
        assert total <= 1, name
        spent[name] = total
        assert world.refused  # nine more of each session never fit
    assert any(spent.values())


def test_without_its_guards_a_ledger_that_was_set_back_pays_twice(tmp_path, monkeypatch):
    """So these runs can notice it."""
    monkeypatch.setattr(FloorMark, "check", lambda *_: None)
    monkeypatch.setattr(Journal, "check_not_rolled_back", lambda _, anchor: anchor)
    assert swap(World(tmp_path), attacks(None)["file rolled back"], 2, 1) > 1
