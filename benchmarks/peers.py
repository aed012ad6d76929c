"""Peers' time for COUNT and AVG by group, each in a process of its own.

OpenDP needs one exact version of Polars, which is not ours, so it is installed into a folder
that only its process sees (build/peers). diffprivlib has no GROUP BY: its loop over groups is
written by hand here, on rows sorted once.

    python -m benchmarks.peers opendp-rows rows.parquet 1000
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "build" / "peers"
OPENDP = "opendp[polars]>=0.14"


def seconds(kind: str, file: Path, groups: int) -> float | str:
    """How long a peer took; or why it could not be timed."""
    environment = dict(os.environ)
    if kind.startswith("opendp"):
        if not installed():
            return "could not be installed into build/peers"
        environment["PYTHONPATH"] = str(FOLDER)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, kind, str(file), str(groups)],
        capture_output=True,
        check=False,
        text=True,
        env=environment,
    )
    if run.returncode:
        told = run.stderr.strip().splitlines()
        return f"failed ({told[-1][:80] if told else run.returncode})"
    return float(run.stdout.split()[-1])


def installed() -> bool:
    """OpenDP with the Polars that it asks for, in its own folder; installed on first use."""
    if (FOLDER / "opendp").exists():
        return True
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run = subprocess.run([*pip, "--target", str(FOLDER), OPENDP], check=False)
    return run.returncode == 0


def opendp_rows(file: str, groups: int) -> Callable[[], object]:
    import opendp.prelude as odp
    import polars as pl

    data = pl.read_parquet(file)
    return lambda: (
        _opendp(odp, pl, data, odp.unit_of(contributions=1), groups)
        .group_by("g")
        .agg(*_aggregates(odp, pl))
        .with_keys(pl.LazyFrame({"g": range(groups)}, schema={"g": pl.Int32}))
        .release()
        .collect()
    )


def opendp_persons(file: str, groups: int) -> Callable[[], object]:
    import opendp.prelude as odp
    import polars as pl

    data = pl.read_parquet(file)
    unit = odp.unit_of(contributions=1, identifier=pl.col("person"))
    return lambda: (
        _opendp(odp, pl, data, unit, groups)
        # keep="sample", which would compare with ours, fails in OpenDP 0.16.
        .truncate_num_groups(4, by=["g"], keep="first")
        .truncate_per_group(10, by=["g"])
        .group_by("g")
        .agg(*_aggregates(odp, pl))
        .with_keys(pl.LazyFrame({"g": range(groups)}, schema={"g": pl.Int32}))
        .release()
        .collect()
    )


def _opendp(odp, pl, data, unit, groups):  # type: ignore[no-untyped-def]
    odp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    margin = odp.polars.Margin(by=["g"], max_length=10**8, max_groups_per_unit=groups)
    return odp.Context.compositor(
        data=data.lazy(),
        privacy_unit=unit,
        privacy_loss=odp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[margin],
    ).query()


def _aggregates(odp, pl):  # type: ignore[no-untyped-def]
    """A count and a sum; their quotient, the average, costs nothing more."""
    return odp.len(signed=True), pl.col("x").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, 100.0))


def diffprivlib_rows(file: str, groups: int) -> Callable[[], object]:
    import diffprivlib.tools as tools
    import numpy as np
    import pyarrow.parquet

    data = pyarrow.parquet.read_table(file)
    group, value = (np.asarray(data[name]) for name in ("g", "x"))

    def loop() -> object:
        sorted_ = value[np.argsort(group, kind="stable")]
        counts, _ = tools.histogram(group, epsilon=0.5, bins=groups, range=(0, groups))
        ends = np.cumsum(np.bincount(group, minlength=groups))
        parts = np.split(sorted_, ends[:-1])
        means = [tools.mean(part, epsilon=0.5, bounds=(0.0, 100.0)) for part in parts]
        return counts, means

    return loop


PEERS = {
    "opendp-rows": opendp_rows,
    "opendp-persons": opendp_persons,
    "diffprivlib-rows": diffprivlib_rows,
}


def main(kind: str, file: str, groups: str) -> None:
    act = PEERS[kind](file, int(groups))
    start = time.perf_counter()
    act()
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main(*sys.argv[1:])
