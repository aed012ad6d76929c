"""`deniable explain`: what a question would measure and cost, before anything is spent."""

from typing import Annotated

import typer

from deniable.app.cli import asking


def explain(
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
    engine_sql: Annotated[
        bool, typer.Option("--engine-sql", help="Show what the engine would run, too.")
    ] = False,
) -> None:
    """Show the plan for a question: sensitivity, noise, cost and expected margins.

    Nothing is spent and no row is read.
    """
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
    asking.check_price(question, wishes)
    with asking.planning(policy, "planning") as session:
        told = session.explain(question, **wishes)
        plan = session.plan(question, **wishes) if engine_sql else None
    print(told)
    if plan is not None:
        for statement in plan.statements:
            print(f"\n{statement.sql}")
