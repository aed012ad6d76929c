"""Opens what `deniable serve` serves: policies, people and the queue, as one application."""

import json
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from fastapi import FastAPI

from deniable.app.server.accounts.access_gate import AccessGate
from deniable.app.server.accounts.account_routes import account_router
from deniable.app.server.accounts.account_stores import AccountStore, open_store
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.login_desk import LoginDesk
from deniable.app.server.accounts.oidc_providers import read_providers
from deniable.app.server.accounts.server_database import DEFAULT_DATABASE, ServerDatabase
from deniable.app.server.application import make_application
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_routes import console_router
from deniable.app.server.operation_routes import operation_router
from deniable.app.server.problem_details import problem_of
from deniable.app.server.questions.admission import Admission
from deniable.app.server.questions.question_queue import QuestionQueue, QueueLimits
from deniable.app.server.questions.question_routes import QuestionServer, question_router
from deniable.app.server.questions.served_policy import TIME_LIMIT, ServedPolicy, served_name
from deniable.app.server.questions.slots import SLOT_SECONDS
from deniable.app.server.request_log import RequestLog
from deniable.errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What is served, and how. `padded`: whether answers wait for their slots."""

    policies: tuple[Path, ...]
    database: Path = DEFAULT_DATABASE
    padded: bool = True
    slot: float = SLOT_SECONDS
    time_limit: float = TIME_LIMIT
    limits: QueueLimits = field(default_factory=QueueLimits)
    origin: str = ""  # the address that browsers know the server by
    providers: Path | None = None  # of log-ins elsewhere
    people: str = ""  # where people are kept, if not in the database
    log_requests: bool = False
    metrics: bool = False

    def to_json(self) -> str:
        """The settings as text, for a process that is started with them."""
        told = asdict(self) | {"database": str(self.database)}
        told["providers"] = None if self.providers is None else str(self.providers)
        return json.dumps(told | {"policies": [str(file) for file in self.policies]})

    @classmethod
    def from_json(cls, text: str) -> "ServerSettings":
        """The settings that `to_json` wrote.

        >>> settings = ServerSettings((Path("a.toml"),), slot=0.5, providers=Path("p.toml"))
        >>> ServerSettings.from_json(settings.to_json()) == settings
        True
        """
        told = json.loads(text)
        told["policies"] = tuple(map(Path, told["policies"]))
        told["providers"] = told["providers"] and Path(told["providers"])
        told |= {"database": Path(told["database"]), "limits": QueueLimits(**told["limits"])}
        return cls(**told)

    @property
    def names(self) -> list[str]:
        """The names of the policies in addresses."""
        return [served_name(file) for file in self.policies]

    def check(self) -> None:
        """Refuses what cannot be served, before anything is opened."""
        names = self.names
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InvalidParameter(
                f"Two policies would have the address /v1/{twice.pop()}. Rename one of them."
            )
        if self.providers is not None and not self.origin:
            raise InvalidParameter(
                "`--providers` needs `--origin`: the address that people come back to."
            )
        if not 0.01 <= self.slot <= 3600:
            raise InvalidParameter("`--slot` must be between 0.01 and 3600 seconds.")


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
    desk = LoginDesk(server.people)
    console = Console(server, desk, tuple(providers))
    application = make_application(
        operation_router(
            [
                partial(server.people.find_session, ""),
                *(partial(_read_head, served) for served in server.policies.values()),
            ],
            facts=server.admission.queue.count if settings.metrics else None,
        ),
        account_router(server.people, origin=settings.origin, providers=providers, desk=desk),
        question_router(server),
        console_router(console),
        https=https,
        at_end=opened.close,
        problem_of=problem_of,
        page_of=console.show_problem,
        gate=AccessGate(server.people, origin=settings.origin),
    )
    if settings.log_requests:
        application.add_middleware(RequestLog)
    return application


def _read_head(served: ServedPolicy) -> object:
    return served.session.ledger.head
