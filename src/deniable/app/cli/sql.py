"""`deniable sql`: a private answer to a question in SQL."""

import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

import deniable as dp
from deniable.app.cli import asking

if TYPE_CHECKING:
    from deniable.release import Release


def sql(
    question: asking.Question,
    epsilon: asking.Epsilon = None,
    margin: asking.Margin = None,
    relative: asking.Relative = None,
    of: asking.Of = None,
    find_bounds: asking.FindBounds = False,
    delta: asking.Delta = None,
    policy: asking.PolicyFile = asking.POLICY,
    confidence: asking.Confidence = "0.95",
    nonnegative: asking.Nonnegative = False,
    other: asking.Other = False,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Answer in CSV.")] = False,
) -> None:
    """Answer a question privately: each number with its margin, the cost and what is left.

    The budget is counted within this one command: who runs it again spends again.
    """
    if as_json and as_csv:
        raise dp.InvalidParameter("Choose one of --json and --csv.")
    wishes = asking.wishes(
        epsilon=epsilon,
        margin=margin,
        relative=relative,
        of=of,
        find=find_bounds,
        delta=delta,
        confidence=confidence,
        nonnegative=nonnegative,
        other=other,
    )
    with asking.session(policy, "asking") as session:
        answer = session.sql(question, **wishes)
    if as_json:
        print(in_json(answer))
    elif as_csv:
        write_csv(answer, sys.stdout)
        print(str(answer).rpartition("\n\n")[2], file=sys.stderr)
    else:
        print(answer)


def in_json(answer: "Release") -> str:
    """Rows with their margins, and what they cost, as JSON; amounts as exact text."""
    import json

    left = answer.remaining
    return json.dumps(
        {
            "rows": answer.to_arrow().to_pylist(),
            "margins": dict(answer.answer.margins),
            "confidence": float(answer.plan.confidence),
            "cost": {"epsilon": str(answer.plan.epsilon), "delta": str(answer.plan.delta)},
            "left": {"epsilon": str(left.epsilon), "delta": str(left.delta)},
            "notes": [*answer.plan.notes, *answer.warnings],
        },
        indent=2,
        ensure_ascii=False,
    )


def write_csv(answer: "Release", file: TextIO) -> None:
    """Rows with their margins beside the numbers."""
    import csv

    table = answer.to_arrow()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
