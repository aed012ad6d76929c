"""The Budget page: what is left, in questions; budgets of units, tables, analysts; requests.

Only the ledger grants. A request is written down for the owner. A grant is a line of the policy
and the owner's consent, an entry of the ledger; so are the line and the command that are shown.
"""

import datetime
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.accounts.identity import Person
from deniable.app.server.accounts.role_matrix import reach
from deniable.app.server.console.budget_requests import BudgetRequest, read_limit
from deniable.app.server.console.console import Console, go_to
from deniable.app.server.console.console_forms import read_form, read_whole
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.questions.public_facts import describe_entries
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.errors import DeniableError, InvalidParameter
from deniable.ledger.beginning import grant_limit
from deniable.ledger.entries import known_as
from deniable.ledger.ledger import FilterUsage, format_down
from deniable.ledger.remaining import describe_how_many
from deniable.ledger.terms import Terms
from deniable.policy.analyst_limit import limit_lines, write_amount
from deniable.query.plan.quoting import quote_name

BUDGET = "/console/{policy}/budget"
_PRICES = ("0.01", "0.1", "0.5")  # of the questions that are counted
_MOST_ENTRIES = 50


@dataclass(frozen=True, slots=True)
class ShownAccount:
    """The budget of a unit, a table or an analyst."""

    kind: str  # "unit", "table" or "analyst"
    name: str
    spent: str
    limit: str
    cap: str  # what the schedule reaches; empty if it has been reached
    share: int  # of the limit that is spent, in per cent, rounded up


class _Limit(NamedTuple):
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request with its state, and what the owner would write to grant it."""

    request: BudgetRequest
    state: str
    epsilon: str
    line: str
    command: str


class BudgetPages:
    """What is left, who spent what, and requests."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", BUDGET, self.show_budget),
            PageRoute("POST", BUDGET, self.request_budget),
            PageRoute("POST", "/console/{policy}/requests/{name}", self.decide),
        ]

    async def show_budget(self, request: Request, policy: str) -> Response:
        """The budgets that are there for a person."""
        return await self._console.work(request, self._page, request, policy)

    async def request_budget(self, request: Request, policy: str) -> Response:
        """Writes a request down."""
        _, person = self._console.enter(request, policy)
        fields = await read_form(request)

        def note(served: ServedPolicy) -> None:
            epsilon = read_limit(fields.get("epsilon", ""))
            limit = _limit(served.terms, person.name).epsilon
            reason = fields.get("reason", "")
            self._console.requests.add(policy, person.name, epsilon, reason, limit=limit)

        return await self._console.work(request, self._act, request, policy, note, fields)

    async def decide(self, request: Request, policy: str, name: str) -> Response:
        """The owner's yes or no. A yes is an entry of the ledger, and a line of the policy."""
        served_policy, owner = self._console.enter(request, policy)
        if not served_policy.is_open_to(owner):  # a limit counts for every table
            raise HTTPException(403)
        act = (await read_form(request)).get("act", "")
        requests = self._console.requests
        number = read_whole(name, digits=12)

        def settle(served: ServedPolicy) -> None:
            demand = requests.find(policy, number)
            if demand is None or act not in ("grant", "decline"):
                raise HTTPException(404)
            terms = served.terms
            if _state(demand, terms) != "open":  # a page may be older than what was granted
                raise InvalidParameter(f"Request {number} is not open any more.")
            if act == "decline":
                requests.decline(policy, number)
                return
            because = f"request {number} of {demand.person}: {demand.reason} ({owner.name})"
            grant_limit(
                served.file,
                demand.person,
                demand.epsilon,
                because=because,
                in_force=terms,
            )

        return await self._console.work(request, self._act, request, policy, settle)

    def _act(
        self,
        request: Request,
        policy: str,
        act: Callable[[ServedPolicy], None],
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        """Does it, and shows the budgets; or why it cannot be done."""
        served, _ = self._console.enter(request, policy)
        try:
            act(served)
        except DeniableError as refusal:
            page = self._page(request, served.name, str(refusal), typed)
            page.status_code = 400
            return page
        return go_to(f"/console/{policy}/budget")

    def _page(
        self,
        request: Request,
        policy: str,
        problem: str = "",
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        served, person = self._console.enter(request, policy)
        everybody = request.state.reach == "any"
        whose = None if everybody else person.name
        budget_requests, terms = self._console.requests.listed(policy, whose), served.terms
        asks = reach("GET", "/console/{policy}/ask", person.role) is not None
        usages = served.session.ledger.filter_usages()
        if asks:
            usages += _unspent(usages, terms, person)
        accounts = _accounts(served, person, usages, everybody=everybody)
        entries = describe_entries(served, person, whose)
        return self._console.show(
            request,
            "budget.html",
            title="Budget",
            policy=policy,
            problem=problem,
            typed={name: (typed or {}).get(name, "") for name in ("epsilon", "reason")},
            left=_left(served, person) if asks else [],
            accounts=accounts,
            schedule=_schedule(served),
            requests=[
                _show_request(budget_request, terms, served)
                for budget_request in budget_requests
            ],
            can_decide=person.role == "owner" and served.is_open_to(person),
            can_request=person.role == "analyst",
            entries=list(reversed(entries))[:_MOST_ENTRIES],
            more=max(0, len(entries) - _MOST_ENTRIES),
            everybody=everybody,
        )


def _left(served: ServedPolicy, person: Person) -> list[dict[str, Any]]:
    """For each table how many more counts fit, at some prices."""
    session = served.session_for(person.name)
    rows = []
    for table in served.policy_for(person).tables.values():
        if table.public:
            continue
        left = session.ledger.remaining_for(person.name, tables=[table.name])
        counts = []
        for price in _PRICES:
            question = f"SELECT COUNT(*) FROM {quote_name(table.name)}"
            plan = session.plan(question, epsilon=Fraction(price))
            count = session.ledger.how_many(plan, person.name)
            margin = plan.outputs[0].margin
            words = describe_how_many(count).removesuffix(" like this one")
            counts.append(
                {
                    "price": price,
                    "margin": f"{margin or 0:,.6g}",
                    "count": count,
                    "words": words,
                }
            )
        rows.append({"table": table.name, "left": format_down(left.epsilon), "counts": counts})
    return rows


def _accounts(
    served: ServedPolicy,
    person: Person,
    usages: Sequence[FilterUsage],
    *,
    everybody: bool,
) -> list[ShownAccount]:
    """The accounts in the sum of epsilons; of analysts only the own, unless for all."""
    own = known_as(person.name)
    accounts = []
    for usage in usages:
        kind, _, name = usage.account.partition(":")
        if usage.filter != "pure":
            continue
        if kind == "analyst" and not everybody and name != own:
            continue
        if kind == "table" and not person.may_read(served.name, [name]):
            continue
        spent = usage.spent if usage.spent is not None else usage.limit
        share = -(-100 * spent // usage.limit) if usage.limit else 100
        cap = format_down(usage.cap) if usage.cap != usage.limit else ""
        called = "everybody in the data" if name == "*" else name
        accounts.append(
            ShownAccount(
                kind,
                called,
                f"{float(spent):.6g}",
                format_down(usage.limit),
                cap,
                min(100, int(share)),
            )
        )
    order = ("unit", "table", "analyst")
    return sorted(accounts, key=lambda account: (order.index(account.kind), account.name))


def _unspent(
    usages: Sequence[FilterUsage], terms: Terms, person: Person
) -> tuple[FilterUsage, ...]:
    """The own budget of a person who has spent nothing: the ledger has no account of it yet."""
    account = f"analyst:{known_as(person.name)}"
    if not terms.has_budget(account) or any(usage.account == account for usage in usages):
        return ()
    today = datetime.datetime.now(datetime.UTC).date()
    ends, nothing = terms.limits(account, None), Fraction(0)
    return tuple(
        FilterUsage(
            account, kind, nothing, limit.amount, ends[kind].amount, nothing, limit.slack
        )
        for kind, limit in terms.limits(account, today).items()
    )


def _schedule(served: ServedPolicy) -> list[tuple[str, str]]:
    """When the budget grows, and to what."""
    budget = served.session.policy.budget
    return [(day.isoformat(), str(float(budget.at(day).epsilon))) for day in budget.days]


def _show_request(request: BudgetRequest, terms: Terms, served: ServedPolicy) -> ShownRequest:
    limit = _limit(terms, request.person)
    because = f"request {request.number} of {request.person}"
    command = ["deniable", "ledger", "amend", "--policy", str(served.file)]
    return ShownRequest(
        request,
        _state(request, terms),
        write_amount(request.epsilon),
        limit_lines(request.person, request.epsilon, limit.delta),
        shlex.join([*command, "--because", because]),
    )


def _state(request: BudgetRequest, terms: Terms) -> str:
    """A request is granted when the ledger has its limit, whatever was decided before."""
    if _limit(terms, request.person).epsilon >= request.epsilon:
        return "granted"
    return "declined" if request.declined else "open"


def _limit(terms: Terms, person: str) -> _Limit:
    """What an analyst may spend in the end; nothing without a budget of one's own."""
    account = f"analyst:{known_as(person)}"
    if not terms.has_budget(account):
        return _Limit(Fraction(0), Fraction(0))
    budget = terms.budget(account).at(None)
    return _Limit(budget.epsilon, budget.delta)
