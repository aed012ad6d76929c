"""Requests of analysts for more budget. The owner decides; only the ledger grants.

A request asks for a new limit. It is granted when the ledger has that limit, whether the owner
granted it here or by editing the policy: the consent is an entry of the ledger. So this list
promises nothing.
"""

import datetime
import re
from dataclasses import dataclass
from fractions import Fraction

from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.errors import InvalidParameter
from deniable.policy.analyst_limit import write_amount

_TABLE = (
    "CREATE TABLE IF NOT EXISTS budget_requests (number INTEGER PRIMARY KEY, policy TEXT"
    " NOT NULL, person TEXT NOT NULL, epsilon TEXT NOT NULL, reason TEXT NOT NULL,"
    " day TEXT NOT NULL, declined INTEGER NOT NULL DEFAULT 0) STRICT"
)
_LIMIT = re.compile(r"\d{1,20}(\.\d{1,20})?", re.ASCII)
_LONGEST_REASON = 500
_MOST_OPEN = 5


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """A request for a limit of so much in all, what was spent included."""

    number: int
    person: str
    epsilon: Fraction
    reason: str
    day: str
    declined: bool


class BudgetRequests:
    """The requests of a server.

    >>> import tempfile, pathlib
    >>> database = ServerDatabase(pathlib.Path(tempfile.mkdtemp()) / "server.sqlite")
    >>> requests = BudgetRequests(database)
    >>> requests.add("hospital", "ann", Fraction(2), "a second study", limit=Fraction(1))
    >>> [(request.person, request.epsilon) for request in requests.listed("hospital", None)]
    [('ann', Fraction(2, 1))]
    """

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        database.create(_TABLE)

    def add(
        self, policy: str, person: str, epsilon: Fraction, reason: str, *, limit: Fraction
    ) -> None:
        """Writes a request down. A person may have a few above the limit in force."""
        if epsilon <= limit:
            raise InvalidParameter(
                f"Your limit is {write_amount(limit)} already. Ask for more."
            )
        if not reason.strip() or len(reason) > _LONGEST_REASON:
            raise InvalidParameter(
                f"Say in at most {_LONGEST_REASON} characters what the budget is for."
            )
        with self._database.writing() as connection:
            rows = connection.execute(
                "SELECT epsilon FROM budget_requests WHERE policy = ? AND person = ?"
                " AND declined = 0",
                (policy, person),
            ).fetchall()
            if sum(Fraction(amount) > limit for (amount,) in rows) >= _MOST_OPEN:
                raise InvalidParameter("You have as many requests as are allowed. Wait.")
            connection.execute(
                "INSERT INTO budget_requests (policy, person, epsilon, reason, day)"
                " VALUES (?, ?, ?, ?, ?)",
                (policy, person, str(epsilon), reason.strip(), _today()),
            )

    def find(self, policy: str, number: int) -> BudgetRequest | None:
        """One request."""
        listed = self.listed(policy, None)
        return next((request for request in listed if request.number == number), None)

    def decline(self, policy: str, number: int) -> None:
        """Notes the owner's no."""
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE budget_requests SET declined = 1 WHERE number = ? AND policy = ?",
                (number, policy),
            )

    def listed(self, policy: str, person: str | None) -> list[BudgetRequest]:
        """The requests of a person, or of everybody; the last ones first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT number, person, epsilon, reason, day, declined FROM budget_requests"
                " WHERE policy = ? AND (? IS NULL OR person = ?) ORDER BY number DESC LIMIT 50",
                (policy, person, person),
            ).fetchall()
        return [
            BudgetRequest(number, who, Fraction(epsilon), reason, day, bool(declined))
            for number, who, epsilon, reason, day, declined in rows
        ]


def read_limit(text: str) -> Fraction:
    """The limit that a person typed: a decimal, because a policy states it exactly.

    >>> read_limit(" 2.5 ")
    Fraction(5, 2)
    """
    if not _LIMIT.fullmatch(text.strip()) or not (limit := Fraction(text.strip())):
        raise InvalidParameter("Write the new limit as a decimal above 0, such as 2 or 2.5.")
    return limit


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()
