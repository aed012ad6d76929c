"""`deniable compare`: the difference of two groups, or of all pairs, with both errors."""

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.app.cli import session_options
from deniable.app.cli.argument_values import parse_decimal
from deniable.errors import InvalidParameter
from deniable.exact.rationals import confidence_level

if TYPE_CHECKING:
    from deniable.infer.inferred import Inferred
    from deniable.query.plan.plan import Plan

First = Annotated[str | None, typer.Argument(help="A group; of several keys: A,1.")]
Second = Annotated[str | None, typer.Argument(help="The group that it is compared with.")]
Value = Annotated[
    str | None, typer.Option(help="The column, if the answer has several.", metavar="COLUMN")
]
Rows = Annotated[
    str | None,
    typer.Option(help="The count that the count in --value is a part of.", metavar="COLUMN"),
]
How = Annotated[
    str,
    typer.Option("--as", help="difference, ratio or odds-ratio.", metavar="WORD"),
]
NoiseOnly = Annotated[
    bool,
    typer.Option("--noise-only", help="Compare these rows, and not the population."),
]
Picture = Annotated[
    Path | None, typer.Option(help="Also draw it, as .svg or .png.", metavar="FILE")
]


def compare(
    question: session_options.Question = None,
    first: First = None,
    second: Second = None,
    epsilon: session_options.Epsilon = None,
    value: Value = None,
    rows: Rows = None,
    how: How = "difference",
    noise_only: NoiseOnly = False,
    picture: Picture = None,
    delta: session_options.Delta = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    as_json: session_options.Json = False,
    analyst: session_options.Analyst = None,
    server: session_options.Server = None,
    server_key: session_options.ServerKey = None,
    file: session_options.QuestionFile = None,
) -> None:
    """Compare groups of an answer: with the error of the noise and of sampling.

    The question is asked FOR POPULATION, so all that the comparison needs is measured with it.
    Without two groups, all pairs are compared, and all intervals hold together. A question
    that was asked before costs nothing again.
    """
    _check_how(how, first, second)
    session_options.check_writable(picture)
    options = _options(epsilon, delta, confidence)
    text = session_options.read_question(question, file, options)
    text = text if noise_only else _for_population(text)
    level = confidence_level(parse_decimal(confidence, "confidence"))
    with session_options.open_session(policy, "asking", analyst, server, server_key) as session:
        plan = session.plan(text, **options)
        pair = _find_pair(plan, first, second)
        _check_columns(plan, value, rows)
        options |= _leave_room(plan, len(pair), level, sampling=not noise_only)
        release = session.sql(text, **options)
    settings = {"value": value, "rows": rows, "sampling": not noise_only, "confidence": level}
    comparisons = _compare(release, pair, how, settings)
    _print(comparisons, release, as_json=as_json)
    _draw(comparisons, picture)


def _options(epsilon: str | None, delta: str | None, confidence: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("margin", "relative", "of"))
    style = {"find": False, "nonnegative": False, "other": False, "brackets": True}
    price_options = {"epsilon": epsilon, "delta": delta, "confidence": confidence}
    return session_options.ask_options(**nothing, **style, **price_options)  # type: ignore[arg-type]


def _for_population(text: str) -> str:
    """The question, asked FOR POPULATION if it is not already."""
    from deniable.query.planner.for_population import split_population_clause

    has_clause = split_population_clause(text)[1]
    return text if has_clause else f"{text.rstrip().rstrip(';')} FOR POPULATION"


def _draw(comparisons: "tuple[Inferred, ...]", picture: Path | None) -> None:
    if picture is not None:
        from deniable.figures import canvas, inferences

        print(canvas.save(inferences.differences(comparisons), picture))


def _check_how(how: str, first: str | None, second: str | None) -> None:
    if how not in ("difference", "ratio", "odds-ratio"):
        raise InvalidParameter(f"--as is difference, ratio or odds-ratio. Found {how!r}.")
    if (first is None) != (second is None) or (first is None and how != "difference"):
        raise InvalidParameter(
            "Name two groups after the question, such as A B; or none, for the differences of "
            "all pairs."
        )


def _find_pair(plan: "Plan", first: str | None, second: str | None) -> tuple[Any, ...]:
    """The keys of both groups; refuses, before the charge, names of no declared group."""
    if not plan.keys:
        raise InvalidParameter("There is nothing to compare: group the question by a key.")
    if first is None or second is None:
        return ()
    values = [key.values for key in plan.keys]
    declared = [known for known in values if known is not None]
    if len(declared) < len(values):
        return tuple(
            tuple(name.split(",")) if len(values) > 1 else name for name in (first, second)
        )
    groups = {",".join(map(str, keys)): keys for keys in itertools.product(*declared)}
    pair = []
    for name in (first, second):
        if name not in groups:
            names = " ".join(list(groups)[:8])
            raise InvalidParameter(f"There is no group {name!r}. The groups are {names}.")
        pair.append(groups[name] if len(values) > 1 else groups[name][0])
    return tuple(pair)


def _check_columns(plan: "Plan", *columns: str | None) -> None:
    """Refuses, before the charge, names of no number in the answer."""
    from deniable.release.answer.answer_table import column_names

    known = [names.name for names in column_names(plan) if names.margin is not None]
    for name in columns:
        if name is not None and name not in known:
            raise InvalidParameter(
                f"There is no number {name!r} in the answer. It has {', '.join(known)}."
            )


def _leave_room(
    plan: "Plan", groups: int, level: Fraction, *, sampling: bool
) -> dict[str, Any]:
    """The confidence to ask quantiles with: their noise must leave a part of the error."""
    from deniable.infer.quantile_contrasts import confidence_to_ask
    from deniable.infer.quantile_ends import quantile_levels

    sizes = [len(key.values) for key in plan.keys if key.values is not None]
    groups = groups or math.prod(sizes)
    if groups < 2 or not quantile_levels(plan):
        return {}
    return {"confidence": confidence_to_ask(groups, level, sampling=sampling)}


def _compare(
    release: Any, pair: tuple[Any, ...], how: str, settings: dict[str, Any]
) -> "tuple[Inferred, ...]":
    from deniable import infer

    if not pair:
        return infer.all_pairs(release, **settings)
    acts = {"difference": infer.difference, "ratio": infer.ratio}
    return (acts.get(how, infer.odds_ratio)(release, *pair, **settings),)


def _print(comparisons: "tuple[Inferred, ...]", release: Any, *, as_json: bool) -> None:
    import json

    if as_json:
        names = ("what", "value", "interval", "noise", "sampling", "confidence", "p_value")
        rows = [
            {name: getattr(comparison, name) for name in (*names, "target")}
            for comparison in comparisons
        ]
        print(json.dumps(rows))
        return
    notes = dict.fromkeys(note for comparison in comparisons for note in comparison.notes)
    for comparison in comparisons:
        print(str(comparison).splitlines()[0])
    for line in (
        *dict.fromkeys(f"Target: {comparison.target}." for comparison in comparisons),
        *notes,
    ):
        print(line)
    print(f"Left: {release.remaining}.")
