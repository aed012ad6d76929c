"""Answers that the policy gives by itself: the declared keys, at no cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable.engines.handover.exact_groups import ExactGroups
from deniable.errors import InvalidParameter, InvalidQuery
from deniable.exact.foreign_text import printable
from deniable.exact.rationals import rational
from deniable.privacy import Loss, PureLoss
from deniable.query.language.parse import parse
from deniable.query.language.question import Question
from deniable.query.plan.plan import Plan
from deniable.query.planner.explain import Branch
from deniable.query.planner.keys_alone import plan_keys_alone
from deniable.release.answer.answer import draw_answer
from deniable.release.session.door import Door
from deniable.release.session.release import Release

_FREE = (
    "The policy declares these groups, so they are public: this costs nothing, and no row was "
    "read. Some of them may have no rows."
)


@dataclass(frozen=True, slots=True, repr=False)
class FreeKeys(Release):
    """The declared keys. Nothing was charged and no engine was asked.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"ward": ["A"] * 9}), keys={"ward": ["A", "B"]}, epsilon=1)
    >>> wards = data.sql("SELECT DISTINCT ward FROM data")
    >>> wards["ward"], wards.loss.epsilon(0)
    (['A', 'B'], 0.0)
    """

    @property
    def loss(self) -> Loss:
        """None."""
        return PureLoss(0)

    @property
    def warnings(self) -> tuple[str, ...]:
        """None: nothing is noisy."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """The rows, ready for JSON. There is nothing to certify."""
        told = Release.to_dict(self)
        return {**told, "notes": [_FREE, *told["notes"]], "rehearsal": False}

    def _footer(self) -> str:
        notes = map(printable, self.plan.notes)
        return "\n".join([_FREE, f"Left: {self.remaining}.", *notes])


def answer_keys_alone(
    session: Door,
    question: str | Question,
    options: Mapping[str, Any],
    refusal: InvalidQuery | InvalidParameter,
) -> FreeKeys | None:
    """The declared keys, if the question was refused because it asks for nothing else. Nothing
    is spent."""
    plan = _plan_keys(session, question, options, refusal)
    if plan is None:
        return None
    return FreeKeys(plan, draw_answer(plan, ExactGroups((), None, {}, {})), session.remaining)


def explain_keys_alone(
    session: Door,
    question: str | Question,
    options: Mapping[str, Any],
    refusal: InvalidQuery | InvalidParameter,
) -> Branch | None:
    """That the question is free, if it is."""
    plan = _plan_keys(session, question, options, refusal)
    if plan is None:
        return None
    names = ", ".join(output.name for output in plan.outputs)
    told = (Branch(note) for note in plan.notes)
    return Branch(
        "Answer at no cost", (Branch(f"declared keys: {names}"), Branch(_FREE), *told)
    )


def _plan_keys(
    session: Door,
    question: str | Question,
    options: Mapping[str, Any],
    refusal: InvalidQuery | InvalidParameter,
) -> Plan | None:
    """The plan of a free question. A price may be missing, but no option may be wrong."""
    if not isinstance(question, str | Question):
        return None
    option_names = {name for name, value in options.items() if value not in (None, False)}
    if "other" in option_names:
        return None  # what is in that group is not declared
    if isinstance(refusal, InvalidParameter):
        if option_names - {"nulls", "brackets", "confidence"}:
            return None
        if "confidence" in option_names and not _is_level(options["confidence"]):
            return None
    try:
        parsed_question = parse(question) if isinstance(question, str) else question
    except InvalidQuery:
        return None
    return plan_keys_alone(parsed_question, session.policy, nulls=bool(options.get("nulls")))


def _is_level(confidence: Any) -> bool:
    """Whether answers can have this confidence."""
    try:
        return 0 < rational(confidence) < 1
    except (InvalidParameter, TypeError, ValueError):
        return False
