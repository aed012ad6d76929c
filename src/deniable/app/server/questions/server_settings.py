"""What `deniable serve` is told to serve, and how. Little is loaded to read and check it: who
starts workers needs no more.
"""

import json
import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from deniable.app.server.accounts.server_database import DEFAULT_DATABASE
from deniable.app.server.questions.question_queue import QueueLimits
from deniable.app.server.questions.slots import SLOT_SECONDS
from deniable.errors import InvalidParameter

REQUESTS_EACH = 6000  # of one person in a minute
TIME_LIMIT = 600.0  # seconds of one statement, where answers do not wait for slots
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
RESERVED = {"surveys", "preview", "login", "logout"}  # addresses of the console


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
    openapi: bool = False  # whether people who log in may read the OpenAPI document
    surveys: Path | None = None  # the folder of surveys
    requests_each: int = REQUESTS_EACH  # of one person in a minute
    # Hides addresses in the database. Only the processes of one server know it.
    address_key: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)

    def to_json(self) -> str:
        """The settings as text, for a process that is started with them."""
        facts = asdict(self) | {"database": str(self.database)}
        facts["providers"] = None if self.providers is None else str(self.providers)
        facts["surveys"] = None if self.surveys is None else str(self.surveys)
        return json.dumps(facts | {"policies": [str(file) for file in self.policies]})

    @classmethod
    def from_json(cls, text: str) -> "ServerSettings":
        """The settings that `to_json` wrote.

        >>> settings = ServerSettings((Path("a.toml"),), slot=0.5, providers=Path("p.toml"))
        >>> ServerSettings.from_json(settings.to_json()) == settings
        True
        """
        facts = json.loads(text)
        facts["policies"] = tuple(map(Path, facts["policies"]))
        facts["providers"] = facts["providers"] and Path(facts["providers"])
        facts["surveys"] = facts["surveys"] and Path(facts["surveys"])
        facts |= {"database": Path(facts["database"]), "limits": QueueLimits(**facts["limits"])}
        return cls(**facts)

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
        if clashes := RESERVED & set(names):
            raise InvalidParameter(
                f"A policy cannot be called {clashes.pop()!r}: the console has a page of that "
                "name. Rename its file."
            )
        if self.providers is not None and not self.origin:
            raise InvalidParameter(
                "`--providers` needs `--origin`: the address that people come back to."
            )
        if not names and self.surveys is None:
            raise InvalidParameter(
                "Name a policy, or a folder with --surveys. To look around:   deniable serve "
                "--demo"
            )
        if self.requests_each < 1:
            raise InvalidParameter("`--requests-each` must be 1 or more.")
        if not 0.01 <= self.slot <= 3600:
            raise InvalidParameter("`--slot` must be between 0.01 and 3600 seconds.")


def served_name(file: Path) -> str:
    """The name of a policy in addresses.

    >>> served_name(Path("/data/hospital/deniable.toml")), served_name(Path("School.toml"))
    ('hospital', 'school')
    """
    stem = file.stem if file.stem != "deniable" else file.resolve().parent.name
    name = re.sub("[^a-z0-9_-]+", "-", stem.lower()).strip("-")
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"{stem!r} cannot be part of an address. Rename the file of the policy with "
            "letters, digits, - and _."
        )
    return name
