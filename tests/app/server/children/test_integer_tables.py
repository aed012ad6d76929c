import numpy as np
import pyarrow as pa

from deniable.app.server.children.integer_tables import read_groups, write_groups
from deniable.engines.handover.exact_groups import CellCounts, ExactGroups, JointCells

LARGEST = 2**127 - 1


def test_everything_an_engine_returns_comes_back():
    groups = ExactGroups(
        (pa.array(["A", None, "ä"]), pa.array([1, 2, 3])),
        np.array([5, 0, -2]),
        {"n": np.array([1, 2, 3]), "k0": np.array([LARGEST, -LARGEST, 0], dtype=object)},
        {"m": CellCounts((pa.array(["A"]),), np.array([7]), np.array([9]))},
        JointCells(np.array([[0, 1], [1, 0]], dtype=np.int32), np.array([3, 4]), (2, 2)),
    )
    again = read_groups(*write_groups(groups))
    assert [key.to_pylist() for key in again.keys] == [["A", None, "ä"], [1, 2, 3]]
    assert again.units.tolist() == [5, 0, -2]
    assert {name: values.tolist() for name, values in again.features.items()} == {
        "n": [1, 2, 3],
        "k0": [LARGEST, -LARGEST, 0],
    }
    cells = again.cells["m"]
    assert (cells.keys[0].to_pylist(), cells.cell.tolist(), cells.count.tolist()) == (
        ["A"],
        [7],
        [9],
    )
    assert again.joint.sizes == (2, 2)
    assert again.joint.codes.tolist() == [[0, 1], [1, 0]]
    assert again.joint.count.tolist() == [3, 4]


def test_no_groups_at_all():
    empty = ExactGroups((pa.array([], pa.string()),), None, {"n": np.array([], np.int64)})
    again = read_groups(*write_groups(empty))
    assert (again.groups, again.units, again.joint, again.cells) == (0, None, None, {})
    assert again.keys[0].type == pa.string()
