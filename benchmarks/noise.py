"""Our exact samplers against numpy's inexact ones and against OpenDP's exact ones.

One million draws for us and for numpy, one core, tables for the scale already built.
OpenDP is timed on fewer draws, since its speed per draw does not depend on how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from benchmarks.stopwatch import Row, medians, speed
from deniable import exact

DRAWS = 1_000_000
PEER_DRAWS = 10_000
UNIT = "M draws/s"

Draw = Callable[[int], object]


def rows() -> Iterator[Row]:
    generator = np.random.default_rng()
    for scale, least in ((1, 1.3), (100, 1.3), (2**20, 1.3), (2**40, 1.0)):
        yield from contest(
            f"discrete Laplace, {label(scale)}",
            lambda n, s=scale: exact.discrete_laplace(Fraction(s), n),
            lambda n, s=scale: generator.laplace(0.0, s, n),
            least,
            opendp("laplace", scale),
        )
    for sigma in (1, 100, 1000):
        yield from contest(
            f"discrete Gaussian, {sigma}",
            lambda n, s=sigma: exact.discrete_gaussian(Fraction(s * s), n),
            lambda n, s=sigma: generator.normal(0.0, s, n),
            0.5,
            opendp("gaussian", sigma),
        )
        yield from contest(
            f"rounded Gaussian, {sigma}",
            lambda n, s=sigma: exact.rounded_gaussian(Fraction(s * s), n),
            lambda n, s=sigma: generator.normal(0.0, s, n),
            0.5,
        )


def contest(
    what: str, ours: Draw, numpys: Draw, least: float, opendps: Draw | str | None = None
) -> Iterator[Row]:
    """One row against numpy and, where it has the same law, one against OpenDP."""
    contestants = {"ours": speed(ours, DRAWS), "numpy": speed(numpys, DRAWS)}
    if callable(opendps):
        contestants["OpenDP"] = speed(opendps, PEER_DRAWS)
    speeds = medians(contestants)
    yield verdict(what, speeds, "numpy", least)
    if callable(opendps):
        yield verdict(what, speeds, "OpenDP", 200)
    elif opendps is not None:
        yield Row(what, UNIT, speeds["ours"], None, "OpenDP", note=opendps)


def verdict(what: str, times: dict[str, float], peer: str, least: float) -> Row:
    ratio = times["ours"] / times[peer]
    return Row(
        what,
        UNIT,
        times["ours"],
        times[peer],
        peer,
        ratio,
        f"≥ {least:g}",
        ratio >= least,
    )


def opendp(law: str, scale: int) -> Draw | str:
    try:
        import opendp.prelude as odp
    except ImportError:
        return "is not installed (extra: bench)"
    odp.enable_features("contrib")
    make, distance = {
        "laplace": (odp.m.make_laplace, odp.l1_distance(T=int)),
        "gaussian": (odp.m.make_gaussian, odp.l2_distance(T=float)),
    }[law]
    measure = make(odp.vector_domain(odp.atom_domain(T=int)), distance, scale=float(scale))
    return lambda n: measure([0] * n)


def label(scale: int) -> str:
    return str(scale) if scale < 1000 else f"2^{scale.bit_length() - 1}"
