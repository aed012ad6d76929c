"""`deniable check`: compare a mechanism's exact probabilities with its loss."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

import deniable as dp
from deniable.app.cli import argument_values

if TYPE_CHECKING:
    from deniable.audit import EnumerationResult


def check(
    mechanism: Annotated[
        str | None,
        typer.Argument(help="A name, such as Laplace. Without it, all are checked."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Argument(help="Its parameters: epsilon=1 sensitivity=2.", metavar="NAME=VALUE"),
    ] = None,
    inputs: Annotated[
        str, typer.Option(help="Neighbouring inputs; all pairs are compared.", metavar="VALUES")
    ] = "0,1",
    claim: Annotated[
        str | None,
        typer.Option(help="The epsilon to check; by default the mechanism's own loss."),
    ] = None,
) -> None:
    """Enumerate a mechanism's outputs and compare their exact probabilities with its loss.

    Without a name, every mechanism must pass, and a copy of each with half the noise must
    fail. Status 1 means that a check had the wrong result.
    """
    from deniable import audit

    if mechanism is None:
        raise typer.Exit(0 if check_all() else 1)
    subject = make_mechanism(mechanism, argument_values.parse_parameters(parameters or []))
    loss = (
        None if claim is None else dp.PureLoss(argument_values.parse_fraction(claim, "claim"))
    )
    result = audit.check(subject, [argument_values.parse_values(inputs)], claim=loss)
    print(f"{subject!r} against {loss or subject.loss!r}")
    print(describe_result(result))
    raise typer.Exit(0 if result.private else 1)


def make_mechanism(name: str, arguments: dict[str, Any]) -> Any:
    """A mechanism with these parameters."""
    kind = getattr(dp, name, None) if name in dp.__all__ else None
    if kind is None or not hasattr(kind, "pmf"):
        names = [public for public in dp.__all__ if hasattr(getattr(dp, public), "pmf")]
        raise dp.InvalidParameter(
            f"There is no mechanism {name!r}. The mechanisms are {', '.join(names)}."
        )
    try:
        return kind(**arguments)
    except TypeError as error:
        raise dp.InvalidParameter(f"{name} does not take these parameters: {error}.") from None


def describe_result(result: "EnumerationResult") -> str:
    """A result, with the probability of the outputs that were not checked."""
    return f"{result} (outputs of total probability {result.missing:.1g} were not checked)"


def check_all() -> bool:
    """Whether all mechanisms pass, and all copies with half the noise fail."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from deniable import audit
    from deniable.audit.test.self_test_cases import SELF_TEST_CASES

    table = Table("mechanism", "as it is", "with half its noise", box=box.SIMPLE_HEAD)
    passed = True
    for case in SELF_TEST_CASES:
        whole = audit.check(case.mechanism, case.neighbors)
        half = audit.check(case.halved, case.neighbors, claim=case.mechanism.loss)
        passed = passed and whole.private and half.violated
        table.add_row(case.name, str(whole), str(half))
    Console(highlight=False, markup=False).print(table)
    return passed
