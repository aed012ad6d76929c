"""Opens what `deniable serve` serves: policies, people and the queue, as one application."""

from contextlib import ExitStack
from functools import partial

from fastapi import FastAPI

from deniable.app.server.accounts.access_gate import AccessGate
from deniable.app.server.accounts.account_routes import account_router
from deniable.app.server.accounts.account_stores import AccountStore, open_store
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.login_desk import LOGINS_PER_HOUR, LoginDesk
from deniable.app.server.accounts.oidc_providers import read_providers
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.accounts.shared_limits import SharedAddressLimits, SharedLimits
from deniable.app.server.api_document import document_router
from deniable.app.server.application import make_application
from deniable.app.server.console.budget_requests import BudgetRequests
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_routes import console_router
from deniable.app.server.console.public_links import PublicLinks
from deniable.app.server.operation_routes import operation_router
from deniable.app.server.problem_details import problem_of
from deniable.app.server.questions.admission import Admission
from deniable.app.server.questions.question_queue import QuestionQueue
from deniable.app.server.questions.question_routes import QuestionServer, question_router
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.app.server.questions.server_settings import ServerSettings
from deniable.app.server.request_log import RequestLog
from deniable.app.server.surveys.survey_desk import REPORTS_PER_HOUR, SurveyDesk


def open_server(settings: ServerSettings) -> tuple[QuestionServer, ExitStack]:
    """The server, and what must be closed at its end."""
    settings.check()
    with ExitStack() as opened:
        database = ServerDatabase(settings.database)
        opened.callback(database.close)
        people: AccountStore = database
        if settings.people:
            people = open_store(settings.people)
            opened.callback(people.close)
        policies: dict[str, ServedPolicy] = {}
        for file in settings.policies:
            served = ServedPolicy.open(
                file,
                database,
                places=settings.limits.places,
                slot=settings.slot,
                padded=settings.padded,
                time_limit=settings.time_limit,
            )
            opened.callback(served.close)
            policies[served.name] = served
        admission = Admission(QuestionQueue(database, settings.limits))
        opened.callback(admission.drain)
        server = QuestionServer(policies, Identities(people), admission)
        return server, opened.pop_all()
    raise AssertionError


def make_server(settings: ServerSettings, *, https: bool) -> FastAPI:
    """The application. It ends its children and closes its ledgers when it stops."""
    providers = {} if settings.providers is None else read_providers(settings.providers)
    server, opened = open_server(settings)
    limits = _OpenLimits(server.people.people.database, settings)
    desk = LoginDesk(server.people, limits=limits.of_addresses("logins", LOGINS_PER_HOUR))
    database = server.admission.queue.database
    surveys = None
    if settings.surveys is not None:
        surveys = SurveyDesk(
            settings.surveys,
            origin=settings.origin,
            limits_of=partial(limits.of_addresses, "reports", REPORTS_PER_HOUR),
        )
        opened.callback(surveys.close)
    console = Console(
        server, desk, PublicLinks(database), BudgetRequests(database), tuple(providers), surveys
    )
    routers = [
        operation_router(
            [
                partial(server.people.find_session, ""),
                *(partial(_read_head, served) for served in server.policies.values()),
            ],
            facts=server.admission.queue.count if settings.metrics else None,
        ),
        account_router(server.people, origin=settings.origin, providers=providers, desk=desk),
        question_router(server),
    ]
    application = make_application(
        *routers,
        *([document_router(routers)] if settings.openapi else []),
        console_router(console),
        https=https,
        at_end=opened.close,
        problem_of=problem_of,
        page_of=console.show_problem,
        gate=AccessGate(server.people, origin=settings.origin, requests=limits.of_people()),
    )
    if settings.log_requests:
        application.add_middleware(RequestLog)
    return application


class _OpenLimits:
    """Limits that all workers of a server share, in the database of people."""

    def __init__(self, store: AccountStore, settings: ServerSettings) -> None:
        self._store, self._key = store, bytes.fromhex(settings.address_key)
        self._requests_each = settings.requests_each

    def of_people(self) -> SharedLimits:
        """How often a person may ask for anything."""
        return SharedLimits(self._store, "requests", self._requests_each, seconds=60)

    def of_addresses(self, what: str, most: int, about: str = "") -> SharedLimits:
        """How often an address may do something in an hour."""
        return SharedAddressLimits(
            self._store, what, most, seconds=3600, key=self._key, about=about
        )


def _read_head(served: ServedPolicy) -> object:
    return served.session.ledger.head
