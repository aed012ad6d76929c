"""Quantiles of the population: what the noise leaves open in ranks, plus the binomial error.

Of n independent rows, the number below the population's quantile of level p is binomial. So a
sample's quantile of a level q below p is at most the population's of level p, except with the
chance that this number is at most n q; the same from above. The released intervals of the
quantiles at q hold together, with the release's own confidence. The interval runs from the low
end of the highest level that is far enough below p, to the high end of the lowest one that is
far enough above. FOR POPULATION asks for such levels. Without them, the interval ends at the
column's bounds.

A unit with up to m rows is one draw. Of n rows, the number of a unit's rows below the quantile,
less p times all its rows, has an expected square of at most m p (1 - p) times their expected
number: it is largest if all m rows lie on one side. So n rows count as n / m independent ones.
"""

import math
from fractions import Fraction

from deniable.errors import InvalidParameter
from deniable.infer.groups.drawn_samples import Drawn
from deniable.infer.groups.readings import refuse_chosen_groups, rows_per_unit
from deniable.infer.groups.unit_squares import linear_outputs
from deniable.infer.inferred import Ends, Inferred
from deniable.infer.totals import named
from deniable.query.margins.margins import noise_of_features
from deniable.query.margins.noise_quantiles import fixed_margin
from deniable.query.plan.plan import Chosen, Output, Plan
from deniable.release.answer.answer_table import column_names
from deniable.release.session.release import Release

_UNKNOWN = Fraction(1, 50)  # of the error, for the number of rows


def quantile_levels(plan: Plan) -> dict[str, tuple[Fraction, Output]]:
    """The outputs that are quantiles: their levels, by the names of their columns."""
    outputs = {}
    for names, output in zip(column_names(plan), plan.outputs, strict=True):
        node = output.node
        if isinstance(node, Chosen) and output.margin_in != "rows":
            choice = plan.choices[node.choice]
            levels = getattr(choice.mechanism, "quantiles", None)
            if levels is not None:
                outputs[names[0]] = Fraction(levels[choice.names.index(node.name)]), output
    return outputs


def asked_columns(names: list[str]) -> list[str]:
    """The columns without those that FOR POPULATION added: their names have another's before.

    >>> asked_columns(["m", "m: 0.449", "n"])
    ['m', 'n']
    """
    return [name for name in names if not any(name.startswith(f"{own}: ") for own in names)]


def values_of(about: str) -> str:
    """What a quantile is one of.

    >>> values_of("MEDIAN(GREATEST(x, 3))"), values_of("QUANTILE_CONT(GREATEST(x, 3), 0.9)")
    ('GREATEST(x, 3)', 'GREATEST(x, 3)')
    """
    name, _, inside = about.removesuffix(")").partition("(")
    return inside if name in ("MEDIAN", "MIN", "MAX") else inside.rpartition(",")[0]


def noise_of_quantile(release: Release, column: str, place: int) -> tuple[float, Ends]:
    """A group's quantile, and the interval of its noise at the confidence of the plan."""
    output = quantile_levels(release.plan)[column][1]
    ends = release.answer.ends.get(column, ())
    if all(release.answer.table[end][place].as_py() is None for end in ends):
        raise InvalidParameter(
            f"{column} was released without an interval in its own unit. Ask without "
            "brackets=False."
        )
    limits = float(output.low or 0), float(output.high or 0)
    value = _value(release, column, place, limits[0])
    low, high = (_cell(release, column, place, side, limits) for side in (0, 1))
    return value, (min(low, value), max(high, value))


def infer_quantile(
    release: Release, column: str, place: int, group: object, draw: Drawn, level: Fraction
) -> Inferred:
    """The population's quantile of one group."""
    plan = release.plan
    refuse_chosen_groups(plan)
    quantile, output = quantile_levels(plan)[column]
    if quantile in (0, 1):
        raise InvalidParameter(
            f"{column}: no sample tells how far the values of its population reach. Ask for a "
            "quantile, such as QUANTILE_CONT(x, 0.95)."
        )
    value, noise = noise_of_quantile(release, column, place)
    error = (1 - level) - (1 - plan.confidence)
    if error <= 0:
        raise InvalidParameter(
            f"{column}: intervals of its noise take {float(1 - plan.confidence):g} of the "
            "error, and nothing is left for sampling. Put FOR POPULATION at the end of the "
            f"question, or ask with confidence={float(1 - (1 - level) / 2):g}."
        )
    most = rows_per_unit(plan)
    rows = _fewest_rows(release, output, place, error * _UNKNOWN) // most
    tail = float(error * (1 - _UNKNOWN)) / 2
    far = _levels_far_enough(plan, column, rows, tail)
    bounds = float(output.low or 0), float(output.high or 0)
    ends, drawn_ends = [], []
    for side, name in enumerate(far):
        ends.append(_cell(release, name, place, side, bounds) if name else bounds[side])
        drawn_ends.append(_value(release, name, place, bounds[side]) if name else bounds[side])
    title = f"{output.about}{named(group)}"
    return Inferred(
        title,
        value,
        (min(ends[0], noise[0]), max(ends[1], noise[1])),
        noise,
        (min(drawn_ends[0], value), max(drawn_ends[1], value)),
        float(level),
        draw.target,
        notes=_note_rows(output.about, most) + _note_bounds(plan, column, title, rows, tail),
    )


def _note_rows(name: str, most: int) -> tuple[str, ...]:
    """What is assumed about rows of one unit."""
    if most == 1:
        return ()
    return (
        f"{name}: one unit may have {most} rows here, and they may be alike. So sampling "
        f"errors are those of {most} equal rows.",
    )


def _note_bounds(plan: Plan, column: str, name: str, rows: int, tail: float) -> tuple[str, ...]:
    """What is said if an end is a bound although a quantile could be far enough away."""
    if rows < 1:
        return ()
    level = quantile_levels(plan)[column][0]
    there = _below(rows, level, Fraction(0)), _above(rows, level, Fraction(1))
    sides = zip(_levels_far_enough(plan, column, rows, tail), there, strict=True)
    if not any(end is None and chance <= tail for end, chance in sides):
        return ()
    return (
        f"{name}: no released quantile is far enough from it, for {rows:,} independent rows. "
        "So its interval ends at a bound of the column. FOR POPULATION asks for quantiles "
        "around it; a smaller expected_rows in the policy takes them further away.",
    )


def _levels_far_enough(
    plan: Plan, column: str, rows: int, tail: float
) -> tuple[str | None, str | None]:
    """The columns of the nearest levels that sampling does not take across, with this tail:
    none if perhaps nothing was drawn."""
    if rows < 1:
        return None, None
    levels = quantile_levels(plan)
    quantile, output = levels[column]
    below = above = None
    for name, (own, other) in sorted(levels.items(), key=lambda pair: pair[1][0]):
        together = getattr(other.node, "choice", 0) == getattr(output.node, "choice", 1)
        if together and own < quantile and _below(rows, quantile, own) <= tail:
            below = name
        elif (
            together
            and own > quantile
            and above is None
            and _above(rows, quantile, own) <= tail
        ):
            above = name
    return below, above


def _below(rows: int, level: Fraction, other: Fraction) -> float:
    """P(at most rows * other of the rows lie below the quantile), at this number of rows or at
    any larger one: the smooth law between whole numbers is above the stairs, and falls."""
    from scipy.special import betainc

    rank = float(rows * other)
    return float(betainc(rows - rank, rank + 1, float(1 - level)))


def _above(rows: int, level: Fraction, other: Fraction) -> float:
    """P(at least rows * other of the rows lie below the quantile), in the same way; one rank is
    given away."""
    from scipy.special import betainc

    rank = float(rows * other) - 1
    return float(betainc(rank, rows - rank + 1, float(level))) if rank > 0 else 1.0


def _fewest_rows(release: Release, output: Output, place: int, chance: Fraction) -> int:
    """A number that the group's rows reach, except with this chance."""
    plan = release.plan
    inner = values_of(output.about)
    linear_output = linear_outputs(plan).get(f"COUNT({inner})")  # COUNT(*) also counts NULLs
    if linear_output is None:
        raise InvalidParameter(
            f"How many rows {output.about} is over was not released. Ask for COUNT({inner}) "
            "beside it, or put FOR POPULATION at the end of the question."
        )
    name, shape, _ = linear_output
    noises = noise_of_features(plan.blocks, plan.thresholding)
    margin = fixed_margin(dict(shape.weights), noises, 1 - 2 * chance)
    return max(math.floor(_value(release, name, place) - margin), 0)


def _value(release: Release, name: str, place: int, missing: float = 0.0) -> float:
    cell = release.answer.table[name][place].as_py()
    return missing if cell is None else float(cell)


def _cell(
    release: Release, name: str, place: int, side: int, limits: tuple[float, float]
) -> float:
    return _value(release, release.answer.ends[name][side], place, limits[side])
