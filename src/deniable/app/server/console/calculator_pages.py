"""The calculator: sums, differences, ratios and shares of released numbers, for nothing."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.console.asked_form import CONFIDENCES
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.kept_answers import AskedAnswer, list_answers
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.web.console.answer_tables import ShownTable, round_to, show_answer
from deniable.errors import DeniableError
from deniable.infer.calculator import OPERATIONS, calculate, number_columns
from deniable.infer.groups.readings import groups_of
from deniable.infer.inferred import Inferred
from deniable.infer.two_releases import ReleasedNumbers, calculate_with_both
from deniable.release.session.release import Release

CALCULATOR = "/console/{policy}/calculator"
MOST_GROUPS = 100


@dataclass(frozen=True, slots=True)
class CalculatorForm:
    """What was chosen: places of groups, and how they are put together."""

    operation: str = "sum"
    column: str = ""
    second_column: str = ""  # of the second release, if there is one
    confidence: str = "0.95"
    first: frozenset[int] = frozenset()
    second: frozenset[int] = frozenset()

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> "CalculatorForm":
        """The fields of a form; unknown choices become the usual ones."""
        confidence = fields.get("confidence", "")
        ticked = {
            kind: frozenset(place for place in range(MOST_GROUPS) if f"{kind}{place}" in fields)
            for kind in ("first", "second")
        }
        return cls(
            operation=fields.get("operation", ""),
            column=fields.get("column", ""),
            second_column=fields.get("second_column", ""),
            confidence=confidence if confidence in CONFIDENCES else "0.95",
            **ticked,
        )


class CalculatorPages:
    """What is computed from an answer. It reads released numbers alone."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", CALCULATOR, self.show_calculator),
            PageRoute("POST", CALCULATOR, self.compute),
        ]

    async def show_calculator(
        self, request: Request, policy: str, release: str = "", other: str = ""
    ) -> Response:
        """The numbers of one release, or of two, and the choices."""
        names = release, other
        return await self._console.work(request, self._page, request, policy, names, None)

    async def compute(self, request: Request, policy: str) -> Response:
        """The result beside the choices."""
        fields = await read_form(request)
        form = CalculatorForm.read(fields)
        names = fields.get("release", ""), fields.get("other", "")
        return await self._console.work(request, self._page, request, policy, names, form)

    def _page(
        self, request: Request, policy: str, names: tuple[str, str], form: CalculatorForm | None
    ) -> Response:
        served, person = self._console.enter(request, policy)
        everybody = request.state.reach == "any"
        answers = list_answers(self._console, served, person, everybody=everybody)
        usable = [
            answer for answer in answers if answer.release and number_columns(answer.release)
        ]
        chosen = _choose(usable, names[0])
        other = _choose(usable, names[1]) if names[1] else None
        result, problem = None, ""
        if form is not None and chosen is not None:
            try:
                result = describe(_compute(chosen, other, form))
                result["what"] = _with_alias(result["what"], chosen, form.column)
            except DeniableError as refusal:
                problem = str(refusal)
        return self._console.show(
            request,
            "calculator.html",
            title="Calculator",
            policy=policy,
            answers=usable,
            chosen=chosen and _show(chosen),
            other=other and _show(other),
            operations=OPERATIONS,
            confidences=CONFIDENCES,
            form=form or CalculatorForm(),
            problem=problem,
            result=result,
        )


@dataclass(frozen=True, slots=True)
class ShownRelease:
    """What the page shows of one release."""

    kept: AskedAnswer
    columns: tuple[str, ...]
    groups: list[str]
    table: ShownTable


def _show(answer: AskedAnswer) -> ShownRelease:
    release = _release(answer)
    groups = [_label(key) for key in groups_of(release)[:MOST_GROUPS]]
    table = show_answer(release.plan, release.answer)
    return ShownRelease(answer, number_columns(release), groups, table)


def _choose(usable: list[AskedAnswer], name: str) -> AskedAnswer | None:
    """The release that is named, or the latest. One that is not there does not exist."""
    if not name:
        return usable[0] if usable else None
    for answer in usable:
        if answer.job.id == name:
            return answer
    raise HTTPException(404)


def _compute(chosen: AskedAnswer, other: AskedAnswer | None, form: CalculatorForm) -> Inferred:
    release, level = _release(chosen), float(form.confidence)
    first = _ticked(release, form.first, form.column)
    if other is None:
        second = _ticked(release, form.second, form.column, only=False).groups
        return calculate(
            release,
            form.operation,
            first.groups,
            second,
            value=first.value,
            confidence=level,
        )
    numbers = _ticked(_release(other), form.second, form.second_column)
    return calculate_with_both(first, form.operation, numbers, confidence=level)


def _ticked(
    release: Release, places: frozenset[int], column: str, *, only: bool = True
) -> ReleasedNumbers:
    """The chosen groups of a release. The only group needs no choice, if `only` is true."""
    groups = groups_of(release)
    chosen = [groups[place] for place in sorted(places) if place < len(groups)]
    if only and len(groups) == 1:
        chosen = [groups[0]]
    return ReleasedNumbers(release, chosen, column or number_columns(release)[0])


def _release(answer: AskedAnswer) -> Release:
    assert answer.release is not None  # the others were left out
    return answer.release


def describe(inference: Inferred) -> dict[str, str]:
    """A result in texts, with digits no finer than its margin.

    >>> describe(Inferred("n of A", 12.3456, (11.9, 12.8), (11.9, 12.8), None, 0.95))["value"]
    '12.35'
    """
    known = math.isfinite(inference.margin)
    return {
        "what": inference.what,
        "value": round_to(inference.value, inference.margin) if known else "not known",
        "low": round_to(inference.low, inference.margin, math.floor) if known else "no limit",
        "high": round_to(inference.high, inference.margin, math.ceil) if known else "no limit",
        "level": f"{100 * inference.confidence:.4g} %",
    }


def _with_alias(what: str, chosen: AskedAnswer, column: str) -> str:
    """What was computed, with the number's name on the page in place of its SQL."""
    outputs = _release(chosen).plan.outputs
    about = next((output.about for output in outputs if output.name == column), column)
    return what.replace(about, column, 1)


def _label(key: Any) -> str:
    if key == ():
        return "all rows"
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
