"""`deniable serve` and `deniable unlock`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.app.cli.serving.access import Database
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.app.server.questions.server_settings import ServerSettings
    from deniable.app.server.serving import ServerPlace


Policies = Annotated[
    list[Path] | None,
    typer.Argument(help="The policies, each in its file.", metavar="POLICY..."),
]
Host = Annotated[str, typer.Option(help="The address to listen on.")]
Port = Annotated[int, typer.Option(help="The port; 0 for any.", min=0, max=65535)]
Workers = Annotated[int, typer.Option(help="How many processes.", min=1, max=64)]
Places = Annotated[
    int, typer.Option(help="How many questions are answered at once.", min=1, max=64)
]
Queue = Annotated[int, typer.Option(help="Most questions in all.", min=1)]
QueueEach = Annotated[int, typer.Option(help="Most questions of one person.", min=1)]
RequestsEach = Annotated[
    int, typer.Option(help="Most requests of one person in a minute.", min=1)
]
Slot = Annotated[float, typer.Option(help="The shortest slot, in seconds.")]
Padding = Annotated[
    str, typer.Option(help="`off` hands answers over at once; every certificate says so.")
]
HttpsCertificate = Annotated[
    Path | None, typer.Option(help="A certificate for https, in PEM.", metavar="FILE")
]
HttpsKey = Annotated[
    Path | None, typer.Option(help="The certificate's key, in PEM.", metavar="FILE")
]
BehindProxy = Annotated[
    bool, typer.Option("--behind-proxy", help="A proxy on this machine speaks https.")
]
Origin = Annotated[
    str, typer.Option(help="The address that browsers know the server by.", metavar="URL")
]
Providers = Annotated[
    Path | None, typer.Option(help="Where people may log in elsewhere.", metavar="FILE")
]
PeopleOption = Annotated[
    str,
    typer.Option(
        help="Where people are kept, if in PostgreSQL: postgresql://host/server#people.",
        metavar="ADDRESS",
    ),
]
Surveys = Annotated[
    Path | None,
    typer.Option(help="A folder for surveys, which pollsters draft.", metavar="FOLDER"),
]
Demo = Annotated[
    bool,
    typer.Option("--demo", help="Show it all with a made-up hospital, on this machine."),
]
Metrics = Annotated[
    bool, typer.Option("--metrics", help="Let owners and operators read /metrics.")
]
OpenApi = Annotated[
    bool, typer.Option("--openapi", help="Let people with a token read /openapi.json.")
]
LogRequests = Annotated[
    bool,
    typer.Option("--log-requests", help="Write who asked for which route, without values."),
]


def serve(
    policies: Policies = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Workers = 1,
    places: Places = 2,
    queue: Queue = 32,
    queue_each: QueueEach = 8,
    requests_each: RequestsEach = 6000,
    slot: Slot = 1.0,
    padding: Padding = "on",
    certificate: HttpsCertificate = None,
    key: HttpsKey = None,
    behind_proxy: BehindProxy = False,
    origin: Origin = "",
    providers: Providers = None,
    people: PeopleOption = "",
    log_requests: LogRequests = False,
    metrics: Metrics = False,
    openapi: OpenApi = False,
    surveys: Surveys = None,
    demo: Demo = False,
    database: Database = None,
) -> None:
    """Let people elsewhere ask questions about private tables."""
    if demo:
        _serve_demo(policies, host, port)
        return
    settings = _read_settings(
        policies,
        database,
        padding,
        (places, queue_each, queue),
        slot=slot,
        requests_each=requests_each,
        origin=origin.rstrip("/"),
        providers=providers,
        people=people,
        log_requests=log_requests,
        metrics=metrics,
        openapi=openapi,
        surveys=surveys,
    )
    place = _check_place(host, port, certificate, key, behind_proxy, origin)
    _serve(settings, place, workers)


def _check_place(
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    behind_proxy: bool,
    origin: str,
) -> "ServerPlace":
    from deniable.app.server.serving import ServerPlace

    place = ServerPlace(host, port, certificate, key, behind_proxy)
    place.check(origin=origin or None)
    return place


def _read_settings(
    policies: list[Path] | None,
    database: Path | None,
    padding: str,
    limits: tuple[int, int, int],
    **more: Any,
) -> "ServerSettings":
    from deniable.app.server.accounts.server_database import DEFAULT_DATABASE
    from deniable.app.server.questions.question_queue import QueueLimits
    from deniable.app.server.questions.server_settings import ServerSettings

    if padding not in ("on", "off"):
        raise InvalidParameter(f"`--padding` must be on or off. Found {padding!r}.")
    settings = ServerSettings(
        tuple(policies or ()),
        database or DEFAULT_DATABASE,
        padded=padding == "on",
        limits=QueueLimits(*limits),
        **more,
    )
    settings.check()
    return settings


def _serve_demo(policies: list[Path] | None, host: str, port: int) -> None:
    from deniable.app.cli.serving.demo_server import serve_demo

    if policies or host != "127.0.0.1":
        raise InvalidParameter(
            "--demo serves a made-up hospital on this machine only: give neither a policy nor "
            "--host."
        )
    serve_demo(port)


def _serve(settings: "ServerSettings", place: "ServerPlace", workers: int) -> None:

    def tell(url: str) -> None:
        for name in settings.names:
            print(f"{name}: {url}/v1/{name}", flush=True)

    if workers > 1:
        from deniable.app.server.workers import serve_workers

        serve_workers(settings, place, workers, ready=tell)
    else:
        from deniable.app.server.questions.opened_server import make_server
        from deniable.app.server.serving import serve as serve_application

        https = place.https or place.behind_proxy
        serve_application(make_server(settings, https=https), place, ready=tell)


def unlock(
    person: Annotated[str, typer.Argument(help="Whose questions were late three times.")],
    database: Database = None,
) -> None:
    """Let a person ask again whose questions were not ready when their slots ended."""
    from deniable.app.server.accounts.server_database import DEFAULT_DATABASE, ServerDatabase
    from deniable.app.server.questions.question_queue import QuestionQueue

    queue = QuestionQueue(ServerDatabase(database or DEFAULT_DATABASE))
    if not queue.unlock(person):
        raise InvalidParameter(f"No question of {person!r} was late.")
    print(f"{person} may ask again.")
