"""Random neighbouring tables, many pairs in one: even numbers are one side, odd the other.

One unit is in the even side only (add-remove), or is another one in the odd side (replace). It
may hold any number of rows with any values in any groups, and does its worst half of the time:
the same extreme in every row of a few groups, which differ from those of its replacement. The
other units are the same on both sides; they keep within the group limit, because which groups
a hash picks for them would differ with the number of the side.
"""

import numpy as np
import pyarrow as pa

WARDS = np.array([*"ABCDEF", "X", None], dtype=object)
CODES = np.array([*"pqrst", "", None, "X"], dtype=object)
WILD = [
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    -1e308,
    -0.0,
    0.0,
    100.0,
    -5.5,
    20.0,
    2.0**63,
    5e-324,
    99.9999,
    0.25,
]
MAX_GROUPS, MAX_ROWS = 2, 3


def pairs(count, *, relation, person, seed, wild=True, others=6):
    """`count` pairs as one table with the columns pair, unit, ward, code, x, y and flag.

    The other units have up to `others` rows each.
    """
    draw = np.random.default_rng(seed)
    parts = []
    most = 24 if person else 1
    # The others, on both sides.
    pair = np.repeat(np.arange(count), draw.integers(0, 4, count))
    sizes = draw.integers(1, others + 1, pair.size) if person else np.ones(pair.size, dtype=int)
    crowd = _rows(draw, pair, sizes, wild, groups=MAX_GROUPS)
    for side in (0, 1):
        parts.append((crowd["pair"] * 2 + side, crowd["unit"] * 3 + side, crowd))
    # The one who makes the difference.
    for side in (0, 1) if relation == "replace" else (0,):
        sizes = draw.integers(1, most + 1, count)
        side_rows = _worse(draw, _rows(draw, np.arange(count), sizes, wild, groups=None), side)
        parts.append(
            (side_rows["pair"] * 2 + side, -1 - (side_rows["unit"] * 2 + side), side_rows)
        )
    columns = {
        "pair": np.concatenate([part[0] for part in parts]),
        "unit": np.concatenate([part[1] for part in parts]),
    }
    for name in ("ward", "code", "x", "y", "flag"):
        columns[name] = np.concatenate([part[2][name] for part in parts])
    order = draw.permutation(columns["pair"].size)
    types = {"x": pa.float64(), "y": pa.float64(), "flag": pa.bool_()}
    return pa.table(
        {
            name: pa.array(values[order].tolist(), type=types.get(name))
            for name, values in columns.items()
        }
    )


def _rows(draw, pair, sizes, wild, groups):
    """Rows of one unit for each entry of `pair`."""
    unit = np.repeat(np.arange(pair.size), sizes)
    total = unit.size
    ward, code = (_keys(draw, unit, pair.size, names, groups) for names in (WARDS, CODES))
    return {
        "pair": pair[unit],
        "unit": unit,
        "ward": ward,
        "code": code,
        "x": _values(draw, total, -50, 150, wild),
        "y": _values(draw, total, -10, 30, wild),
        "flag": draw.choice(np.array([True, True, False, None], dtype=object), total),
    }


def _worse(draw, rows, side):
    """Half of the units hold one extreme in all rows, in up to three groups of their side."""
    units = rows["unit"].max() + 1
    bad = (draw.random(units) < 0.5)[rows["unit"]]
    groups = draw.integers(1, 4, units)[rows["unit"]]
    place = 3 * side + draw.integers(0, 3, rows["unit"].size) % groups
    rows["ward"][bad], rows["code"][bad] = WARDS[place[bad]], CODES[place[bad]]
    rows["flag"][bad] = True
    for name, ends in (("x", (-50.0, 150.0, 150.0)), ("y", (-10.0, 30.0, 30.0))):
        extreme = draw.choice(ends, units)[rows["unit"]]
        rows[name][bad] = extreme[bad]
    return rows


def _keys(draw, unit, units, names, groups):
    if groups is None:
        return names[draw.integers(0, names.size, unit.size)]
    homes = draw.integers(0, names.size, (units, groups))
    return names[homes[unit, draw.integers(0, groups, unit.size)]]


def _values(draw, total, low, high, wild):
    values = draw.uniform(low, high, total).astype(object)
    # Runs at either end of the range, where a unit moves a sum the furthest.
    extreme = draw.random(total) < 0.5
    values[extreme] = draw.choice([low, high], extreme.sum())
    if wild:
        odd = draw.random(total) < 0.2
        values[odd] = draw.choice(WILD, odd.sum())
        values[draw.random(total) < 0.1] = None
    return values
