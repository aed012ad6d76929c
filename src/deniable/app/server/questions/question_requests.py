"""What a request asks: read strictly from JSON, and asked of a session.

A request is a question in SQL with its options, a list of such questions, a profile, or a
measurement of limits. SQL comes in a body, never in an address, where proxies would log it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from deniable.app.server.questions.answer_formats import write_outer, write_record
from deniable.errors import InvalidParameter, InvalidQuery, Unsupported
from deniable.exact.foreign_text import read_json, read_rational
from deniable.exact.suggestions import suggest
from deniable.ledger.ledger import Remaining
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.asking.free_keys import explain_keys_alone
from deniable.release.asking.outer_release import OuterRelease
from deniable.release.asking.stages import plans_of_question
from deniable.release.limits.limit_plans import plan_limits
from deniable.release.profile.profiling import plan_whole_profile
from deniable.release.public_session import Session

LONGEST_SQL = 64 * 1024
MOST_QUESTIONS = 1000
_NUMBERS = ("epsilon", "delta", "confidence", "relative", "of", "margin")
_OPTIONS = (*_NUMBERS, "bounds", "weights", "nonnegative", "other", "nulls", "brackets")
_QUESTION = ("sql", *_OPTIONS, "fresh")
_PROFILE = ("table", "epsilon", "delta", "confidence")
_LIMITS = ("table", "by", "epsilon", "max_groups", "max_rows", "confidence")
_AROUND = ("question_id", "part", "expects")


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """A request that was read: what is asked, about which rows, and under which id."""

    kind: str  # "question", "questions", "profile" or "limits"
    told: dict[str, Any]  # the request without its id, to compare with later ones
    questions: tuple[dict[str, Any], ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    question_id: str | None = None
    part: tuple[tuple[str, Any, str | None], ...] = ()
    expects: tuple[str, ...] | None = None  # the hashes of the plans that the asker has made

    @property
    def fresh(self) -> bool:
        """Whether a kept answer will not do."""
        return self.kind == "question" and bool(self.questions[0].get("fresh", False))

    @staticmethod
    def ask_options(question: Mapping[str, Any]) -> Any:
        """The options of one question, as a session takes them."""
        return {name: question[name] for name in _OPTIONS if question.get(name) is not None}

    def about(self, session: Session) -> Session:
        """The session about the part of a table that is asked about."""
        for column, key, table in self.part:
            session = session.partition(column, [key], table=table)[key]
        return session

    def check_expected(self, plans: tuple[Plan, ...]) -> None:
        """Refuses to answer with other plans than the asker has seen."""
        if self.expects is None:
            return
        if self.expects != tuple(canonical.plan_form(plan)[1] for plan in plans):
            raise InvalidParameter(
                "The server would answer with another plan than yours: it may have another "
                "version of Deniable, or the policy was changed. Nothing was spent. Connect "
                "again, with the same version as the server."
            )

    def plans(self, session: Session) -> tuple[Plan, ...]:
        """The plans of all steps, of which each has a slot. Nothing is spent or read."""
        if self.kind == "profile":
            return plan_whole_profile(session, **self.options)
        if self.kind == "limits":
            return plan_limits(session, **self.options).plans
        if self.kind == "questions":  # each of them one plan: all are fixed now
            questions = self.questions
            return tuple(
                session.plan(entry["sql"], **self.ask_options(entry)) for entry in questions
            )
        return tuple(
            plan
            for question in self.questions
            for plan in _plans_of(session, question["sql"], self.ask_options(question))
        )

    def answer(self, session: Any, question_id: str) -> dict[str, Any]:
        """Asks, waits, and returns what is handed over."""
        if self.kind in ("profile", "limits"):
            look = session.profile if self.kind == "profile" else session.limits
            left = describe_remaining(look(**self.options).remaining)
            common_fields = {
                "repeated": session.repeated,
                "kept": True,
                "more": "",
                "remaining": left,
            }
            return {"kind": "run", "record": session.record, **common_fields}
        if self.kind == "questions":
            plans = self.plans(session)
            releases = session.release_all(plans, **self.options)
            return {"kind": "answers", "records": [write_record(answer) for answer in releases]}
        question = self.questions[0]
        release = session.sql(
            question["sql"],
            fresh=self.fresh,
            question_id=question_id,
            **self.ask_options(question),
        )
        reply = {"repeated": release.repeated, "kept": release.kept, "more": release.more}
        reply["remaining"] = describe_remaining(release.remaining)
        if isinstance(release, OuterRelease):
            return reply | write_outer(release)
        if session.record is not None:
            return reply | {"kind": "run", "record": session.record}
        return reply | {"kind": "answer", "record": write_record(release)}


def _plans_of(session: Session, sql: str, options: Mapping[str, Any]) -> tuple[Plan, ...]:
    """The plans of one question. For declared keys alone there is no plan and no release."""
    try:
        return plans_of_question(session, sql, options)
    except (InvalidQuery, InvalidParameter) as refusal:
        if explain_keys_alone(session, sql, options, refusal) is None:
            raise
        raise InvalidQuery(
            "The policy declares these groups, so they are public: nothing is released or "
            "charged. GET /v1/{policy}/tables shows them, under `keys` of each column. "
            "`deniable sql` and the session of dp.connect(...) answer this question themselves."
        ) from None


def describe_remaining(left: Remaining) -> dict[str, Any]:
    """What is left, exactly."""
    others = [
        {"filter": other.filter, "amount": str(other.amount), "delta": str(other.delta)}
        for other in left.others
    ]
    return {"epsilon": str(left.epsilon), "delta": str(left.delta), "others": others}


def read_request(body: bytes) -> AskedQuestions:
    """Reads a request; InvalidParameter for anything else, without quoting it.

    >>> read_request(b'{"sql": "SELECT COUNT(*) FROM visits", "epsilon": "1/2"}').kind
    'question'
    """
    request = read_object(body)
    envelope = {name: request.pop(name) for name in _AROUND if name in request}
    question_id = envelope.get("question_id")
    if question_id is not None and not isinstance(question_id, str):
        raise InvalidParameter("`question_id` must be a text.")
    common_fields: dict[str, Any] = {
        "told": {**request, "part": envelope.get("part", [])},
        "question_id": question_id,
        "part": _read_part(envelope.get("part", [])),
        "expects": _read_expected(envelope.get("expects")),
    }
    if "profile" in request:
        _check_names(request, ("profile",))
        options = _read_names(request["profile"], _PROFILE, "profile")
        if not isinstance(options.get("table"), str | None) or "epsilon" not in options:
            raise InvalidParameter("A profile needs `epsilon`; `table` is a name.")
        return AskedQuestions("profile", options=_read_numbers(options), **common_fields)
    if "limits" in request:
        _check_names(request, ("limits",))
        return AskedQuestions(
            "limits", options=_read_limits(request["limits"]), **common_fields
        )
    if "questions" in request:
        _check_names(request, ("questions", "delta"))
        listed = request["questions"]
        if not isinstance(listed, list) or not 0 < len(listed) <= MOST_QUESTIONS:
            raise InvalidParameter(f"`questions` must be a list of 1 to {MOST_QUESTIONS:,}.")
        delta = {"delta": _number(request["delta"])} if request.get("delta") is not None else {}
        questions = tuple(_read_question(question, several=True) for question in listed)
        return AskedQuestions("questions", questions=questions, options=delta, **common_fields)
    return AskedQuestions("question", questions=(_read_question(request),), **common_fields)


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body."""
    try:
        request = read_json(body)
    except ValueError:
        raise InvalidParameter("The body must be one JSON object in UTF-8.") from None
    if not isinstance(request, dict):
        raise InvalidParameter("The body must be one JSON object in UTF-8.")
    return request


def _read_question(request: Any, *, several: bool = False) -> dict[str, Any]:
    question = _read_names(request, _QUESTION, "question")
    text = question.get("sql")
    if not isinstance(text, str) or not text:
        raise InvalidParameter("`sql` must be the text of a question.")
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_SQL:
        raise InvalidParameter(
            f"`sql` has more than {LONGEST_SQL:,} bytes. Split the question."
        )
    bounds = question.get("bounds")
    named = isinstance(bounds, list) and all(isinstance(name, str) for name in bounds)
    if not (named or isinstance(bounds, str | None)):
        raise InvalidParameter('`bounds` must be "find", or a list of the columns\' names.')
    if not isinstance(question.get("weights"), dict | None):
        raise InvalidParameter("`weights` must be an object: a number for each output.")
    for name in ("nonnegative", "other", "nulls", "brackets", "fresh"):
        if not isinstance(question.get(name, False), bool):
            raise InvalidParameter(f"`{name}` must be true or false.")
    if several and (question.get("bounds") is not None or question.get("fresh")):
        raise Unsupported("A list of questions takes no `bounds` and no `fresh`.")
    return _read_numbers(question)


def _read_limits(request: Any) -> dict[str, Any]:
    """What limits are measured. `by` is always a list here, as a client writes it."""
    options = {"table": None} | _read_names(request, _LIMITS, "measurement of limits")
    by, caps = options.get("by") or [], [options.get("max_groups"), options.get("max_rows")]
    if not isinstance(options["table"], str | None) or "epsilon" not in options:
        raise InvalidParameter("Limits need `epsilon`; `table` is a name.")
    if not isinstance(by, list) or not all(isinstance(name, str) for name in by):
        raise InvalidParameter("`by` must be a list of the names of columns.")
    if any(isinstance(cap, bool) or not isinstance(cap, int | None) for cap in caps):
        raise InvalidParameter("`max_groups` and `max_rows` must be whole numbers.")
    return _read_numbers(options)


def _read_numbers(question: dict[str, Any]) -> dict[str, Any]:
    """The same with exact numbers: text such as "1/3", integers, and decimals as written."""
    read = dict(question)
    for name in (*_NUMBERS, "weights"):
        value = read.get(name)
        if isinstance(value, dict):
            read[name] = {column: _number(inner) for column, inner in value.items()}
        elif value is not None:
            read[name] = _number(value)
    return read


def _number(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return Fraction(read_rational(value))
        except ValueError:
            raise InvalidParameter('A number as text is written like "1/3".') from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidParameter('A number is written like 0.5, or exactly as "1/2".')
    return value


def _read_expected(expects: Any) -> tuple[str, ...] | None:
    if expects is None:
        return None
    if not isinstance(expects, list) or not all(
        isinstance(plan_hash, str) for plan_hash in expects
    ):
        raise InvalidParameter("`expects` must be a list of the hashes of plans.")
    return tuple(expects)


def _read_part(part: Any) -> tuple[tuple[str, Any, str | None], ...]:
    wrong = InvalidParameter(
        "`part` must be a list of columns, each with one of its keys, and the table's name."
    )
    if not isinstance(part, list) or len(part) > 16:
        raise wrong
    for pair in part:
        if not isinstance(pair, list) or len(pair) not in (2, 3):
            raise wrong
        names = (pair[0], *pair[2:])
        if not all(isinstance(name, str) for name in names):
            raise wrong
        if not isinstance(pair[1], str | int | float | bool):
            raise wrong
    return tuple((pair[0], pair[1], pair[2] if len(pair) == 3 else None) for pair in part)


def _read_names(fields: Any, known: tuple[str, ...], what: str) -> dict[str, Any]:
    if not isinstance(fields, dict):
        raise InvalidParameter(f"A {what} must be a JSON object.")
    _check_names(fields, known)
    return fields


def _check_names(fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in fields:
        if name not in known:
            raise InvalidParameter(
                "A name in the request is unknown. " + suggest(name, known, "Names are")
            )


def question_hash(session: Session, plans: tuple[Plan, ...]) -> str:
    """A name of what is asked: the plans, and the version of the data."""
    tables = sorted({name for plan in plans for name in (*plan.tables, *plan.public)})
    forms: list[Any] = [canonical.plan_form(plan)[1] for plan in plans]
    return canonical.digest_json([session.policy.data_name(tables), *forms])
