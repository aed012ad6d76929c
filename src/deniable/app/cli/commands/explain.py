"""`deniable explain`: what a question would measure and cost, before anything is spent."""

from pathlib import Path
from typing import Annotated

import typer

from deniable.app.cli import session_options
from deniable.app.cli.terminal_text import write_as_options

EngineSql = Annotated[
    bool, typer.Option("--engine-sql", help="Also show the SQL that the engine would run.")
]
SavePlan = Annotated[
    Path | None,
    typer.Option("--save-plan", help="Write the plan to a file, for `deniable kernel`."),
]


def explain(
    question: session_options.Question = None,
    epsilon: session_options.Epsilon = None,
    margin: session_options.Margin = None,
    relative: session_options.Relative = None,
    of: session_options.Of = None,
    find_bounds: session_options.FindBounds = False,
    delta: session_options.Delta = None,
    policy: session_options.PolicyFile = session_options.POLICY,
    confidence: session_options.Confidence = "0.95",
    nonnegative: session_options.Nonnegative = False,
    other: session_options.Other = False,
    nulls: session_options.Nulls = False,
    brackets: session_options.Brackets = True,
    engine_sql: EngineSql = False,
    save_plan: SavePlan = None,
    server: session_options.Server = None,
    server_key: session_options.ServerKey = None,
    file: session_options.QuestionFile = None,
) -> None:
    """Show the plan for a question: sensitivity, noise, cost and expected margins.

    Nothing is spent and no row is read.
    """
    style = {"nonnegative": nonnegative, "other": other, "nulls": nulls, "brackets": brackets}
    options = session_options.ask_options(
        epsilon=epsilon,
        margin=margin,
        relative=relative,
        of=of,
        find=find_bounds,
        delta=delta,
        confidence=confidence,
        **style,
    )
    from deniable.release.certificate.kernel_check import write_plan_check

    question = session_options.read_question(question, file, options, free=True)
    with session_options.open_to_plan(policy, server, server_key) as session:
        explanation = session_options.ask_priced(session.explain, question, options)
        plan = session.plan(question, **options) if engine_sql or save_plan else None
        if plan is not None and save_plan is not None:
            save_plan.write_text(write_plan_check(plan, session.policy))
    run = plan.statements if plan is not None and engine_sql else ()
    print(write_as_options(str(explanation)), *(statement.sql for statement in run), sep="\n\n")
