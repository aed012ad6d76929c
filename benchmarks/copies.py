"""Copies and cross-tables of a coded table: how far they are from it, and how long they take.

    python -m benchmarks.copies --data DIR [--epsilon 1] [--seeds 5]

DIR holds `coded.csv`, a column of whole numbers from 0 for each name in `domain.json`, which
maps names to numbers of cells. Errors are means over all pairs, and all triples, of columns of
sum |p - q| over the cells: 0 is equal, 2 has nothing in common. Independent columns, measured
at the same price, show what the choice of pairs is worth.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import deniable as dp

DELTA = 1e-9
Codes = Any


def opened(table: pa.Table, sizes: dict[str, int]) -> dp.Session:
    """A session in which every cell is declared."""
    keys = {name: range(size) for name, size in sizes.items()}
    return dp.protect(table, name="adult", keys=keys, epsilon=10**6, delta=1e-3)


def read(folder: Path) -> tuple[pa.Table, dict[str, int]]:
    """The coded table, and its numbers of cells."""
    sizes = json.loads((folder / "domain.json").read_text())
    table = pyarrow.csv.read_csv(folder / "coded.csv")
    return table, {name: sizes[name] for name in table.column_names}


def error(
    codes: Codes, estimate: Callable[[tuple[int, ...]], Any], sizes: list[int], degree: int
) -> float:
    """The mean error over all tables of that many columns."""
    errors = []
    for places in combinations(range(len(sizes)), degree):
        exact = marginal(codes, places, sizes) / len(codes)
        other = np.maximum(estimate(places), 0.0)
        errors.append(np.abs(exact - other / other.sum()).sum())
    return float(np.mean(errors))


def marginal(codes: Codes, places: tuple[int, ...], sizes: list[int]) -> Any:
    """The counts of one table, flat."""
    shape = [sizes[i] for i in places]
    place = np.ravel_multi_index([codes[:, i] for i in places], shape)
    return np.bincount(place, minlength=int(np.prod(shape))).astype(float)


def to_codes(table: pa.Table) -> Codes:
    """The columns side by side."""
    return np.stack([np.asarray(column) for column in table.columns], axis=1)


def try_copy(session: dp.Session, codes: Codes, sizes: list[int], epsilon: float) -> str:
    """One copy: its errors on pairs and triples, what its scorecard says, and its time."""
    start = time.perf_counter()
    copy = session.copy(epsilon=epsilon, delta=DELTA, missing=False)
    took = time.perf_counter() - start
    made = to_codes(copy.to_arrow())
    pairs, triples = (
        error(codes, lambda places: marginal(made, places, sizes), sizes, degree)
        for degree in (2, 3)
    )
    return f"copy {pairs:.4f} {triples:.4f} scorecard {copy.scorecard.mean:.4f} {took:.1f} s"


def try_independent(session: dp.Session, codes: Codes, sizes: list[int], epsilon: float) -> str:
    """Independent columns at the same price."""
    names = list(session.policy.tables["adult"].columns)
    tables = session.crosstabs(
        [[name] for name in names], epsilon=epsilon, delta=DELTA, missing=False, fresh=True
    )
    single = [tables[name].nonnegative() for name in names]

    def estimate(places: tuple[int, ...]) -> Any:
        table = single[places[0]]
        for place in places[1:]:
            table = np.multiply.outer(table, single[place]) / tables.total
        return table.ravel()

    pairs, triples = (error(codes, estimate, sizes, degree) for degree in (2, 3))
    return f"independent {pairs:.4f} {triples:.4f}"


def try_crosstabs(session: dp.Session, codes: Codes, sizes: list[int], epsilon: float) -> str:
    """Cross-tables of all pairs, without negative cells."""
    names = list(session.policy.tables["adult"].columns)
    asked = [list(pair) for pair in combinations(names, 2)]
    start = time.perf_counter()
    tables = session.crosstabs(asked, epsilon=epsilon, delta=DELTA, missing=False, fresh=True)
    took = time.perf_counter() - start

    def estimate(places: tuple[int, ...]) -> Any:
        return tables[tuple(names[i] for i in places)].nonnegative().ravel()

    return f"crosstabs {error(codes, estimate, sizes, 2):.4f} {took:.1f} s"


def main() -> None:
    """Prints one line for each try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["copy", "independent", "crosstabs"])
    options = parser.parse_args()
    table, sizes = read(options.data)
    codes, counts = to_codes(table), list(sizes.values())
    tries = {"copy": try_copy, "independent": try_independent, "crosstabs": try_crosstabs}
    with opened(table, sizes) as session:
        for name, one in tries.items():
            for _ in range(options.seeds if options.only in (None, name) else 0):
                print(one(session, codes, counts, options.epsilon), flush=True)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
