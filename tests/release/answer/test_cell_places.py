"""Cells find the groups of the answer, and what is in none of them its place or none."""

import numpy as np
import pyarrow as pa

from deniable.engines.handover.exact_groups import CellCounts
from deniable.release.answer.cell_places import place_among_declared, place_among_shown


def rows(placed):
    columns = placed.group.tolist(), placed.cell.tolist(), placed.count.tolist()
    return sorted(zip(*columns, strict=True))


def cells(*keys):
    count = len(keys[0])
    return {"q": CellCounts(tuple(map(pa.array, keys)), np.arange(count), np.full(count, 7))}


def test_declared_keys_are_crossed_the_last_fastest():
    counts = cells(["B", "A", "X", "B"], [20, 10, 10, None])
    lists = [pa.array(["A", "B"]), pa.array([10, 20, 30])]
    assert rows(place_among_declared(counts, lists, -1)["q"]) == [(0, 1, 7), (4, 0, 7)]
    assert rows(place_among_declared(counts, lists, 6)["q"]) == [
        (0, 1, 7),
        (4, 0, 7),
        (6, 2, 7),
        (6, 3, 7),
    ]


def test_private_keys_are_found_whatever_their_order():
    counts = cells(["b", "a", None, "c"], [1, 2, 3, 4])
    shown = [pa.array(["a", None, "b", "b"]), pa.array([2, 3, 9, 1])]
    assert rows(place_among_shown(counts, shown, -1)["q"]) == [(0, 1, 7), (1, 2, 7), (3, 0, 7)]
    assert (4, 3, 7) in rows(place_among_shown(counts, shown, 4)["q"])


def test_without_keys_there_is_one_group():
    counts = {"q": CellCounts((), np.array([3, 5]), np.array([1, 2]))}
    assert rows(place_among_declared(counts, [], -1)["q"]) == [(0, 3, 1), (0, 5, 2)]


def test_no_cells_and_no_groups_are_fine():
    nothing = {
        "q": CellCounts((pa.array([], pa.string()),), np.array([], int), np.array([], int))
    }
    assert rows(place_among_declared(nothing, [pa.array(["A"])], -1)["q"]) == []
    assert rows(place_among_shown(nothing, [pa.array([], pa.string())], -1)["q"]) == []
    assert rows(place_among_shown(cells(["a"]), [pa.array([], pa.string())], -1)["q"]) == []
