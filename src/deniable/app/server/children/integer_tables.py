"""The exact integers of an engine as Arrow, on their way from a child to the server.

Keys stay as the engine gave them. Integers that do not fit into 64 bits travel as decimals of
76 digits, which hold every sum of 128 bits.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from deniable.engines.handover.exact_groups import (
    CellCounts,
    ExactGroups,
    Integers,
    JointCells,
    to_integers,
)

_WIDE = pa.decimal256(76, 0)
_GROUPS, _CELLS, _JOINT = "groups", "cells", "joint"


def write_groups(groups: ExactGroups) -> tuple[list[dict[str, Any]], bytes]:
    """What each table is, with its length in bytes; and all tables as Arrow streams.

    >>> groups = ExactGroups((pa.array(["A"]),), None, {"n": np.array([2**70])})
    >>> tables, body = write_groups(groups)
    >>> again = read_groups(tables, body)
    >>> again.keys[0].to_pylist(), again.features
    (['A'], {'n': array([1180591620717411303424], dtype=object)})
    """
    columns = {f"k{place}": key for place, key in enumerate(groups.keys)}
    columns |= {} if groups.units is None else {"units": _to_arrow(groups.units)}
    columns |= {f"f:{name}": _to_arrow(values) for name, values in groups.features.items()}
    parts: list[tuple[dict[str, Any], pa.Table]] = [({"kind": _GROUPS}, pa.table(columns))]
    for name, cells in groups.cells.items():
        own = {f"k{place}": key for place, key in enumerate(cells.keys)}
        own |= {"cell": _to_arrow(cells.cell), "n": _to_arrow(cells.count)}
        parts.append(({"kind": _CELLS, "name": name}, pa.table(own)))
    if groups.joint is not None:
        joint = groups.joint
        own = {f"c{i}": pa.array(joint.codes[:, i]) for i in range(joint.codes.shape[1])}
        own["n"] = _to_arrow(joint.count)
        about = {"kind": _JOINT, "sizes": list(joint.sizes)}
        parts.append((about, pa.table(own)))
    streams = [_to_stream(table) for _, table in parts]
    described = [
        {**about, "bytes": len(stream)}
        for (about, _), stream in zip(parts, streams, strict=True)
    ]
    return described, b"".join(streams)


def read_groups(described: list[dict[str, Any]], body: bytes | bytearray) -> ExactGroups:
    """The groups that `write_groups` wrote."""
    place, cells, joint = 0, dict[str, CellCounts](), None
    groups = pa.table({})
    for about in described:
        stream = memoryview(body)[place : place + about["bytes"]]
        table = pa.ipc.open_stream(pa.py_buffer(stream)).read_all()
        place += about["bytes"]
        if about["kind"] == _GROUPS:
            groups = table
        elif about["kind"] == _CELLS:
            counts = (to_integers(table[name]) for name in ("cell", "n"))
            cells[about["name"]] = CellCounts(_keys(table), *counts)
        else:
            joint = _read_joint(table, tuple(about["sizes"]))
    features = {
        name.removeprefix("f:"): to_integers(groups[name])
        for name in groups.column_names
        if name.startswith("f:")
    }
    units = to_integers(groups["units"]) if "units" in groups.column_names else None
    return ExactGroups(_keys(groups), units, features, cells, joint)


def _read_joint(table: "pa.Table", sizes: tuple[int, ...]) -> JointCells:
    codes = np.empty((table.num_rows, len(sizes)), dtype=np.int32)
    for place in range(len(sizes)):
        codes[:, place] = to_integers(table[f"c{place}"])
    return JointCells(codes, to_integers(table["n"]).astype(np.int64), sizes)


def _keys(table: "pa.Table") -> "tuple[pa.Array[Any], ...]":
    names = [name for name in table.column_names if name[0] == "k" and name[1:].isdigit()]
    return tuple(_combined(table[name]) for name in names)


def _combined(column: "pa.ChunkedArray[Any]") -> "pa.Array[Any]":
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        return array.chunk(0) if array.num_chunks else pa.array([], column.type)
    return array


def _to_arrow(values: Integers) -> "pa.Array[Any]":
    if values.dtype == object:
        return pa.array([int(value) for value in values], type=_WIDE)
    return pa.array(values.astype(np.int64, copy=False))


def _to_stream(table: "pa.Table") -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())
