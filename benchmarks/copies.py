"""Copies and cross-tables of a coded table: how far they are from it, and how long they take.

    python -m benchmarks.copies --data DIR [--epsilon 1] [--seeds 5]
    python -m benchmarks.copies --rows 10000000

The first compares methods; `benchmarks.copies_peer` runs an MST over mbi on the same data. The
second makes a copy of many made-up rows and compares its time with one plain GROUPING SETS
query over all pairs, by the clock and in processor time.

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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv

import deniable as dp
from deniable.synth.copies import copy_run
from deniable.synth.fit.clique_model import CliqueModel
from deniable.synth.fit.tree_model import TreeModel

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


def try_method(
    method: str, session: dp.Session, codes: Codes, sizes: list[int], epsilon: float
) -> str:
    """One copy: its errors on pairs and triples, what its scorecard says, and its time."""
    start, busy = time.perf_counter(), time.process_time()
    with fitting() as spent:
        copy = session.copy(epsilon=epsilon, delta=DELTA, missing=False, method=method)
    took, busy = time.perf_counter() - start, time.process_time() - busy
    copied_codes = to_codes(copy.to_arrow())
    pairs, triples = (
        error(codes, lambda places: marginal(copied_codes, places, sizes), sizes, degree)
        for degree in (2, 3)
    )
    return (
        f"{method} {pairs:.4f} {triples:.4f} scorecard {copy.scorecard.mean:.4f} {took:.1f} s, "
        f"{busy:.1f} s of processor time, of which fit and sample {sum(spent):.2f} s"
    )


@contextmanager
def fitting() -> Iterator[list[float]]:
    """The processor time of everything that fits a model, asks it and samples from it."""
    spent: list[float] = []

    def counted(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            busy = time.process_time()
            try:
                return work(*given)
            finally:
                spent.append(time.process_time() - busy)

        return run

    with ExitStack() as stack:
        for where, name in (
            *((copy_run, name) for name in ("sample_cliques", "sample_rows")),
            *((CliqueModel, name) for name in ("independent", "fit", "marginal")),
            (TreeModel, "fit"),
        ):
            work = counted(getattr(where, name))
            bound = isinstance(vars(where)[name], classmethod)
            stack.enter_context(
                mock.patch.object(where, name, staticmethod(work) if bound else work)
            )
        yield spent


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
    pairs = [list(pair) for pair in combinations(names, 2)]
    start = time.perf_counter()
    tables = session.crosstabs(pairs, epsilon=epsilon, delta=DELTA, missing=False, fresh=True)
    took = time.perf_counter() - start

    def estimate(places: tuple[int, ...]) -> Any:
        return tables[tuple(names[i] for i in places)].nonnegative().ravel()

    return f"crosstabs {error(codes, estimate, sizes, 2):.4f} {took:.1f} s"


SIZES = (2, 3, 5, 7, 8, 9, 10, 12, 15, 16, 16, 20, 32, 32, 42)


def make_rows(count: int) -> pa.Table:
    """Coded rows in which each column depends on the one before."""
    chance = np.random.default_rng(1)
    columns, before = {}, np.zeros(count, dtype=np.int64)
    for place, size in enumerate(SIZES):
        drawn = chance.integers(0, size, count)
        before = np.where(chance.random(count) < 0.5, before % size, drawn)
        columns[f"c{place}"] = pa.array(before, pa.int16())
    return pa.table(columns)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of processor time in all threads."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def try_scale(count: int, methods: list[str]) -> None:
    """Copies of many rows, against one plain query that counts all pairs."""
    table = make_rows(count)
    names = table.column_names
    sets = ", ".join(f"({a}, {b})" for a, b in combinations(names, 2))
    query = f"SELECT {', '.join(names)}, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ({sets})"
    with duckdb.connect() as plain:
        plain.register("t", table)
        least = timed(lambda: plain.sql(query).to_arrow_table())
    print(
        f"{count:,} rows: plain GROUPING SETS {least[0]:.1f} s, {least[1]:.1f} s busy",
        flush=True,
    )
    keys = {name: range(size) for name, size in zip(names, SIZES, strict=True)}
    with dp.protect(table, name="t", keys=keys, epsilon=100, delta=1e-3) as session:
        options = {"epsilon": 1, "delta": DELTA, "missing": False, "rows": count}
        for method in methods:
            took = timed(lambda method=method: session.copy(**options, method=method))
            times = [own / other for own, other in zip(took, least, strict=True)]
            print(
                f"{count:,} rows: {method} {took[0]:.1f} s ({times[0]:.2f} times), "
                f"{took[1]:.1f} s busy ({times[1]:.2f} times)",
                flush=True,
            )
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


def main() -> None:
    """Prints one line for each try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=["mst", "aim", "independent", "crosstabs"])
    options = parser.parse_args()
    if options.rows is not None:
        try_scale(options.rows, [options.only] if options.only else ["mst", "aim"])
        return
    if options.data is None:
        parser.error("give --data DIR, or --rows")
    table, sizes = read(options.data)
    codes, counts = to_codes(table), list(sizes.values())
    tries = {
        "mst": partial(try_method, "mst"),
        "aim": partial(try_method, "aim"),
        "independent": try_independent,
        "crosstabs": try_crosstabs,
    }
    with opened(table, sizes) as session:
        for name, attempt in tries.items():
            for _ in range(options.seeds if options.only in (None, name) else 0):
                print(attempt(session, codes, counts, options.epsilon), flush=True)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
