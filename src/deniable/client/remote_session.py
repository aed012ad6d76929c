"""A session whose tables are elsewhere: it plans here, and a server answers there.

The plan is made here from the policy's public facts, and the server is asked for exactly this
plan: if it would make another one, it refuses before the charge. An answer is handed over after
its certificate was checked: signed by the pinned key, for this plan, these rows and this data.
"""

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from deniable.client.remote_ledger import RemoteLedger, read_remaining, refuse_runs
from deniable.client.remote_outer import read_outer
from deniable.client.server_calls import RetryRefused, ServerCalls
from deniable.engines.handover.written_plan import WrittenPlan
from deniable.errors import (
    InvalidParameter,
    ServerUnavailable,
    TooManyQuestions,
    Unsupported,
)
from deniable.exact.rationals import Number, rational
from deniable.policy import Policy
from deniable.policy.written_policy import read_policy
from deniable.query.language.question import Question
from deniable.query.language.question_text import write_question
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.answer.answer_table import Answer
from deniable.release.asking.outer_question import OuterPlan
from deniable.release.asking.outer_release import OuterRelease
from deniable.release.certificate.certificate import Certificate
from deniable.release.public_session import Session
from deniable.release.session.release import Release
from deniable.release.session.release_records import ReleaseRecords
from deniable.release.session.runs import RecalledRun, Run

_NUMBERS = ("epsilon", "delta", "confidence", "relative", "of", "margin", "weights")
_MOST_REMEMBERED = 4096
_SHORTEST_PAUSE = 0.02
_MOST_REFUSED, _PAUSE_REFUSED = 100, 1.5  # times and seconds: limits are of a minute


class RemoteSession(Session):
    """Asks a server; see `dp.connect`. It has the methods of the session of `dp.open`."""

    def __init__(self, calls: ServerCalls, told: Mapping[str, Any], key: str) -> None:
        self.policy, self.rehearsal = read_policy(told["policy"]), False
        self._calls, self._log = calls, None
        self._engine = _EngineElsewhere(told["engine"], told["runs_plan_text"])
        self._requests: dict[int, tuple[Plan, dict[str, Any]]] = {}
        self._ledger = RemoteLedger(
            calls,
            key=key,
            origin=(told["ledger_id"], told["because"]),
            request_of=lambda plan: _request_of(self, plan),
        )
        self._records = ReleaseRecords(
            self.policy,
            self._ledger,
            analyst=told["analyst"],
            engine=told["engine"],
            policy_hash=told["policy_hash"],
            rehearsal=False,
        )

    def plan_under(
        self, policy: Policy, question: str | Question, options: Mapping[str, Any]
    ) -> Plan:
        """The plan, made here. What was asked is remembered until it is released."""
        plan = super().plan_under(policy, question, options)
        if policy is self.policy:
            while len(self._requests) >= _MOST_REMEMBERED:
                self._requests.pop(next(iter(self._requests)))
            origin = {"question": question, "options": dict(options), "rows": self.rows}
            self._requests[id(plan)] = plan, origin
        return plan

    def check(self, plan: Plan) -> None:
        """Refuses a plan that may not or cannot be run. Nothing is spent or read."""
        self._check(plan)
        self._calls.post("explain", _request_of(self, plan))

    def recall(self, plan: Plan) -> Release | None:
        """None: a server gives a kept answer by itself."""
        self._check(plan)
        return None

    def release(
        self, plan: Plan, *, fresh: bool = False, question_id: str | None = None
    ) -> Release:
        """Asks the server for a plan's answer, waits for its slot and checks the certificate.

        The options are those of a session on the owner's machine. Without a `question_id` one
        is made, so that a broken connection costs nothing more.
        """
        self._check(plan)
        request = _request_of(self, plan) | {"fresh": fresh}
        outcome = _await_outcome(self._calls, request, question_id)
        release = _hand_over(plan, *self._records.read_kept(plan, outcome["record"]), outcome)
        return replace(release, sample=self._records.sample_of(plan))

    def release_all(
        self, plans: Sequence[Plan], *, delta: Number | None = None
    ) -> tuple[Release, ...]:
        """Answers several plans that are all fixed now; all of them are charged, or none."""
        if not isinstance(plans, Sequence):
            raise InvalidParameter(
                f"release_all() takes a list of Plans; got {type(plans).__name__}."
            )
        if not plans:
            raise InvalidParameter("`plans` is empty: there is nothing to reserve.")
        for plan in plans:
            self._check(plan)
        requests = [_request_of(self, plan) for plan in plans]
        common_fields = {"part": requests[0]["part"]}
        expects = [digest for request in requests for digest in request["expects"]]
        questions = [_question_only(request) for request in requests]
        body = {
            "questions": questions,
            "expects": expects,
            "delta": _number(delta),
            **common_fields,
        }
        records = _await_outcome(self._calls, body, None)["records"]
        return tuple(
            self._records.hand_over(plan, *self._records.read_kept(plan, record))
            for plan, record in zip(plans, records, strict=True)
        )

    @contextmanager
    def run_like(
        self,
        plans: Sequence[Plan],
        *,
        fresh: bool = False,
        question_id: str | None = None,
        purpose: Mapping[str, Any] | None = None,
    ) -> Iterator[Run | RecalledRun]:
        """The answers of a question in several steps, which the server runs all by itself."""
        if purpose is None:
            raise refuse_runs()
        for plan in plans:
            self._check(plan)
        forms = [self._records.canonical_form(plan)[1] for plan in plans]
        common_fields = {"part": _part_of(self.rows), "expects": forms}
        if "question" not in purpose:  # a profile, or a measurement of limits
            request = {
                name: _write_options(options) for name, options in purpose.items()
            } | common_fields
        else:
            request = _write_question(purpose["question"], purpose["options"]) | common_fields
            request["fresh"] = fresh
        outcome = _await_outcome(self._calls, request, question_id)
        question = canonical.digest_json(["deniable run 1", *forms])
        yield _RemoteRun(self._records, outcome, question)

    def _answer_elsewhere(
        self, outer_plan: OuterPlan, *, fresh: bool, question_id: str | None
    ) -> OuterRelease:
        """SQL over released rows, which the server runs and signs."""
        for plan in outer_plan.distinct:
            self._check(plan)
        forms = [self._records.canonical_form(plan)[1] for plan in outer_plan.distinct]
        request = _write_question(outer_plan.request["question"], outer_plan.request["options"])
        request |= {"part": _part_of(self.rows), "expects": forms, "fresh": fresh}
        outcome = _await_outcome(self._calls, request, question_id)
        return read_outer(outer_plan, self._records, outcome)

    def reserve_run(self, *_: Any, **__: Any) -> Any:
        """Refused: a server answers whole questions."""
        raise refuse_runs()

    def close(self) -> None:
        """Does nothing: there is nothing to close."""


class _EngineElsewhere:
    """An engine that somebody else runs."""

    def __init__(self, name: str, runs_plan_text: bool) -> None:
        self.name, self.runs_plan_text = name, runs_plan_text

    def schema(self, table: str) -> Mapping[str, str]:
        raise refuse_runs()

    def prepare(self, plan: Plan) -> WrittenPlan:
        raise refuse_runs()

    def run(self, written: WrittenPlan, /) -> Any:
        raise refuse_runs()

    def close(self) -> None:
        return


class _RemoteRun(RecalledRun):
    """The steps of a run that the server has answered; the last one is what was asked."""

    def __init__(
        self, records: ReleaseRecords, outcome: Mapping[str, Any], question: str
    ) -> None:
        super().__init__(records, outcome["record"], question)
        self._outcome = outcome

    def release(self, plan: Plan) -> Release:
        return _hand_over(plan, *self._read_next(plan), self._outcome)


def _hand_over(
    plan: Plan, answer: Answer, certificate: Certificate, outcome: Mapping[str, Any]
) -> Release:
    """An answer whose certificate was checked, with what the server says around it."""
    return Release(
        plan,
        answer,
        read_remaining(outcome["remaining"]),
        certificate=certificate,
        more=str(outcome["more"]),
        repeated=bool(outcome["repeated"]),
        kept=bool(outcome["kept"]),
    )


def _request_of(session: RemoteSession, plan: Plan) -> dict[str, Any]:
    """The request that makes this plan again, elsewhere."""
    entry = session._requests.get(id(plan))
    if entry is None or entry[0] is not plan:
        raise Unsupported(
            "A server answers questions, and this plan was not made from one by this session's "
            "plan(...). Make it again there. What makes plans of its own, such as a copy or a "
            "model, needs a session on the owner's machine. Nothing was spent."
        )
    origin = entry[1]
    request = _write_question(origin["question"], origin["options"])
    digest = session._records.canonical_form(plan)[1]
    return request | {"part": _part_of(origin["rows"]), "expects": [digest]}


def _question_only(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in ("part", "expects")}


def _part_of(rows: Any) -> list[list[Any]]:
    return [[column, key, rows.table] for column, key in rows.part]


def _write_question(question: str | Question, options: Mapping[str, Any]) -> dict[str, Any]:
    text = question if isinstance(question, str) else write_question(question)
    return {"sql": text} | _write_options(options)


def _write_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as JSON, with exact numbers as text."""
    document: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in _NUMBERS:
            document[name] = (
                {str(column): _number(inner) for column, inner in value.items()}
                if isinstance(value, Mapping)
                else _number(value)
            )
        else:
            document[name] = list(value) if isinstance(value, tuple) else value
    return document


def _number(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, Release):
        value = value.value
    return str(rational(value, "number"))


def _await_outcome(
    calls: ServerCalls, request: dict[str, Any], question_id: str | None
) -> dict[str, Any]:
    """Asks, waits for the slot's end and returns what is handed over then."""
    own = secrets.token_hex(16) if question_id is None else question_id
    try:
        return _await_taken(calls, request | {"question_id": own})
    except ServerUnavailable as away:
        raise ServerUnavailable(f"{away} This question's id is {own!r}.") from None


def _await_taken(calls: ServerCalls, request: dict[str, Any]) -> dict[str, Any]:
    ticket, refused = _post_question(calls, request), 0
    while True:
        wait = ticket.get("wait") if isinstance(ticket, dict) else None
        if not isinstance(wait, int | float) or not 0 <= wait < 10**6 or "id" not in ticket:
            raise _not_ours()
        time.sleep(max(wait, _SHORTEST_PAUSE if wait else 0.0))
        try:
            status, answer = calls.send("GET", f"releases/{ticket['id']}/record")
        except TooManyQuestions:  # an answer that was charged is not given up
            refused += 1
            if refused > _MOST_REFUSED:
                raise _still_refused(request["question_id"]) from None
            ticket = ticket | {"wait": _PAUSE_REFUSED}
            continue
        if status != 202 and not isinstance(answer, dict):
            raise _not_ours()
        if status != 202:
            return _Outcome(answer)
        ticket = answer


def _post_question(calls: ServerCalls, request: dict[str, Any]) -> Any:
    """The ticket of a question. One that may have been taken is not given up."""
    refused, may_be_taken = 0, False
    while True:
        try:
            return calls.post("releases", request)
        except TooManyQuestions as refusal:
            may_be_taken |= isinstance(refusal, RetryRefused)
            if not may_be_taken:
                raise
            refused += 1
            if refused > _MOST_REFUSED:
                raise _still_refused(request["question_id"]) from None
            time.sleep(_PAUSE_REFUSED)


def _still_refused(question_id: str) -> TooManyQuestions:
    return TooManyQuestions(
        "The server takes no more requests of yours just now, and this question may be "
        f"charged. Ask it again later with question_id={question_id!r}: it has one charge."
    )


class _Outcome(dict[str, Any]):
    """What a server hands over. What is not in it makes it none of ours."""

    def __missing__(self, name: str) -> Any:
        raise _not_ours()


def _not_ours() -> ServerUnavailable:
    return ServerUnavailable("The server did not answer as a Deniable server.")
