"""What a question would cost and how sure its answer would be, for the Ask page. Nothing is
spent and no row is read: all numbers come from the plan, the policy and the ledger."""

from dataclasses import dataclass

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.asked_form import AskedForm
from deniable.app.server.questions.admission import check_request
from deniable.app.server.questions.question_requests import read_request
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.app.web.console.console_templates import amount_text
from deniable.app.web.console.page_notes import notes_of
from deniable.errors import Unsupported
from deniable.exact.text_formats import percent
from deniable.ledger.ledger import format_down
from deniable.ledger.remaining import describe_how_many
from deniable.privacy import ApproximateLoss
from deniable.privacy.losses.loss_in_words import STOPS, LossInWords, explain_loss
from deniable.query.plan.plan import Output, Plan
from deniable.query.planner.explain import describe_unit, explain
from deniable.release.answer.formatting import format_margin


@dataclass(frozen=True, slots=True)
class PreviewedOutput:
    """One number of the answer, before it is asked for."""

    name: str
    about: str
    margin: str  # "± 12 patients (95 %)", or what it depends on


@dataclass(frozen=True, slots=True)
class QuestionPreview:
    """All that is shown before a question is asked."""

    outputs: tuple[PreviewedOutput, ...]
    epsilon: str  # as the plan has it, exactly
    delta: str
    margin: str  # of the number with the widest one; empty if it is not known
    stop: int
    left: str
    left_delta: str
    affordable: bool
    more: str
    free: bool  # whether this very answer was released before
    words: LossInWords
    unit: str
    kernel: str
    notes: tuple[str, ...]
    tree: str
    expects: str


def preview_question(served: ServedPolicy, person: Person, form: AskedForm) -> QuestionPreview:
    """The preview of a form; an error of ours for a question that cannot be asked."""
    session = served.session_for(person.name)  # it plans once, and the kernel checks once
    plan, *others = check_request(served, person, read_request(form.body()), session)
    if others:
        raise Unsupported(
            "This question has several private parts, and these pages ask one at a time. Ask "
            "for the parts and compute with the answers, or ask in Python with dp.connect(...)."
        )
    left = session.ledger.remaining_for(person.name, tables=plan.tables)
    facts = session._records.facts(plan)
    count = session.ledger.how_many(plan, person.name)
    words = explain_loss(ApproximateLoss(plan.epsilon, plan.delta), unit=plan.unit)
    widest = max((output.margin or 0.0 for output in plan.outputs), default=0.0)
    return QuestionPreview(
        outputs=tuple(_describe(output, plan) for output in plan.outputs if _is_noisy(output)),
        epsilon=amount_text(plan.epsilon),
        delta=amount_text(plan.delta),
        margin=format_margin(widest).replace(",", "") if widest else "",
        stop=_place(words),
        left=format_down(left.epsilon),
        left_delta=format_down(left.delta),
        affordable=count != 0,
        more=describe_how_many(count),
        free=session.ledger.recall(**facts) is not None,
        words=words,
        unit=_as_sentence(describe_unit(plan).replace(f" ({plan.neighbors})", "")),
        kernel=session.describe_check(plan),
        notes=notes_of(plan),
        tree=str(explain(plan)),
        expects=facts["plan_hash"],
    )


def _place(words: LossInWords) -> int:
    """The stop of the scale that the sentences name; the last one for all beyond it.

    >>> from deniable.privacy import PureLoss
    >>> [_place(explain_loss(PureLoss(odds=odds), unit=None)) for odds in (1.05, 1.5, 2, 1000)]
    [1, 2, 3, 5]
    """
    return len(STOPS) if words.stop is None else STOPS.index(words.stop) + 1


def _as_sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}"


def _is_noisy(output: Output) -> bool:
    return output.about != output.name or output.margin is not None


def _describe(output: Output, plan: Plan) -> PreviewedOutput:
    if output.margin is None:
        words = "its margin depends on the data: declare expected_rows to predict it"
    else:
        about = "about " if output.estimated else ""
        unit = output.margin_in or _counted(output, plan)
        margin = f"{format_margin(output.margin)} {unit}".rstrip()
        words = f"± {about}{margin} ({percent(plan.confidence)})"
    return PreviewedOutput(output.name, output.about, words)


def _counted(output: Output, plan: Plan) -> str:
    """What a count counts: units, or rows."""
    if not output.count:
        return ""
    units = plan.unit is not None and "DISTINCT" in output.about.upper()
    return f"{plan.unit}s" if units else "rows"
