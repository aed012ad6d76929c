"""What an answer says about a population: the error of noise and that of sampling, apart.

An answer about these rows has noise alone. Read as a sample it has both errors, and most people
take the first for the whole. A number without a known sampling error is not shown.
"""

from dataclasses import dataclass
from itertools import islice

from deniable.app.server.console.calculator_pages import describe
from deniable.app.web.console.answer_tables import round_to
from deniable.errors import DeniableError
from deniable.infer.inferred import Ends, Inferred
from deniable.infer.population import infer_each
from deniable.release.session.release import Release

_MOST = 20  # each takes a hundredth of a second or two, whenever the page is shown


@dataclass(frozen=True, slots=True)
class PopulationTable:
    """Each number of the population with its errors; empty if nothing is known about it."""

    rows: tuple[dict[str, str], ...] = ()
    target: str = ""
    declared: bool = False  # whether the policy says how the rows were drawn
    more: bool = False


def describe_population(release: Release) -> PopulationTable:
    """The numbers of the population that follow from a release."""
    numbers = infer_each(release)
    try:
        inferred = [
            number for _, number in islice(numbers, _MOST) if number.sampling is not None
        ]
        more = next(numbers, None) is not None
    except DeniableError:  # what cannot be inferred from this answer
        return PopulationTable()
    if not inferred:
        return PopulationTable()
    return PopulationTable(
        tuple(_write_row(number, release) for number in inferred),
        inferred[0].target,
        release.sample is not None,
        more,
    )


def _write_row(inferred: Inferred, release: Release) -> dict[str, str]:
    assert inferred.sampling is not None
    halves = {
        "noise": _half(inferred, inferred.noise),
        "sampling": _half(inferred, inferred.sampling),
    }
    return describe(inferred) | halves | {"what": _name_as_asked(inferred.what, release)}


def _name_as_asked(what: str, release: Release) -> str:
    """A number by its name in the answer, as the other tables of the page call it."""
    for output in release.plan.outputs:
        if what.startswith(f"{output.about} "):
            return output.name + what.removeprefix(output.about)
    return what


def _half(inference: Inferred, ends: Ends) -> str:
    half = max(inference.value - ends[0], ends[1] - inference.value)
    return round_to(half, half)
