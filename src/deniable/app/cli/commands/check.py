"""`deniable check`: does a mechanism of ours keep its promise, output by output?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

import deniable as dp
from deniable.app.cli import argument_values

if TYPE_CHECKING:
    from deniable.audit import EnumerationResult


def check(
    mechanism: Annotated[
        str | None,
        typer.Argument(help="Its name, as in Laplace; all of them if none is given."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Argument(help="Its parameters: epsilon=1 sensitivity=2.", metavar="NAME=VALUE"),
    ] = None,
    inputs: Annotated[
        str, typer.Option(help="Neighbouring inputs, all compared with all.", metavar="VALUES")
    ] = "0,1",
    claim: Annotated[
        str | None,
        typer.Option(help="The epsilon to hold it to; its own loss if none is given."),
    ] = None,
) -> None:
    """Enumerate a mechanism's outputs and compare their exact probabilities with its loss.

    Without a name, every mechanism is checked, and so is a copy of each with half the noise,
    which must fail. Status 1 means that something did not come out so.
    """
    from deniable import audit

    if mechanism is None:
        raise typer.Exit(0 if everything() else 1)
    made = named(mechanism, argument_values.arguments(parameters or []))
    loss = None if claim is None else dp.PureLoss(argument_values.fraction(claim, "claim"))
    found = audit.check(made, [argument_values.values(inputs)], claim=loss)
    print(f"{made!r} against {loss or made.loss!r}")
    print(described(found))
    raise typer.Exit(0 if found.private else 1)


def named(name: str, arguments: dict[str, Any]) -> Any:
    """The mechanism of that name, made."""
    kind = getattr(dp, name, None) if name in dp.__all__ else None
    if kind is None or not hasattr(kind, "pmf"):
        known = [one for one in dp.__all__ if hasattr(getattr(dp, one), "pmf")]
        raise dp.InvalidParameter(
            f"No mechanism is called {name!r}. There are {', '.join(known)}."
        )
    try:
        return kind(**arguments)
    except TypeError as error:
        raise dp.InvalidParameter(f"{name} cannot be made so: {error}.") from None


def described(found: "EnumerationResult") -> str:
    """A finding with what was not looked at."""
    return f"{found} (outputs of probability {found.missing:.1g} were not looked at)"


def everything() -> bool:
    """Whether all specimens pass and all their halves fail."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from deniable import audit
    from deniable.audit.test.self_test_cases import SELF_TEST_CASES

    table = Table("mechanism", "as it is", "with half its noise", box=box.SIMPLE_HEAD)
    right = True
    for one in SELF_TEST_CASES:
        whole = audit.check(one.mechanism, one.neighbors)
        half = audit.check(one.halved, one.neighbors, claim=one.mechanism.loss)
        right = right and whole.private and half.violated
        table.add_row(one.name, str(whole), str(half))
    Console(highlight=False, markup=False).print(table)
    return right
