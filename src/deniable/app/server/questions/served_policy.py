"""A policy that is served: its ledger, its children and its slots."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deniable.app.server.accounts.identity import Person
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.app.server.children.pooled_engine import PooledEngine
from deniable.app.server.children.rehearsal_children import RehearsalChildren
from deniable.app.server.questions.served_session import ServedSession, for_question
from deniable.app.server.questions.server_settings import TIME_LIMIT, served_name
from deniable.app.server.questions.slots import SLOT_SECONDS, SlotLengths, Timetable
from deniable.errors import DeniableError, InvalidParameter, InvalidPolicy
from deniable.ledger.beginning import load_with_ledger
from deniable.ledger.durable_ledger import open_ledger
from deniable.ledger.terms import Terms
from deniable.policy import Policy, load
from deniable.policy.source_names import source_names
from deniable.policy.unit_paths import path_tables
from deniable.policy.written_policy import write_policy
from deniable.query.plan import canonical
from deniable.query.plan.plan import Plan
from deniable.release.session.owner_log import log_path, log_to


class ServedPolicy:
    """One policy of a server. Its name in addresses is that of its file, or of its folder."""

    def __init__(
        self,
        name: str,
        policy: Policy,
        database: ServerDatabase,
        *,
        places: int = 2,
        slot: float = SLOT_SECONDS,
        padded: bool = True,
        time_limit: float = TIME_LIMIT,
    ) -> None:
        if policy.ledger is None:
            raise InvalidPolicy(
                "A server needs a ledger that lasts: remove   store = memory   from [ledger]."
            )
        self.name, self.padded, self.time_limit = name, padded, time_limit
        self.declared = policy  # as its owner wrote it
        self.file, self.text = Path(f"{name}.toml"), ""
        with log_to(log_path(policy)):
            self._engine = PooledEngine(policy, children=places)
        try:
            self._session = ServedSession(
                policy, self._engine, open_ledger(policy), log=log_path(policy)
            )
        except BaseException:
            self._engine.close()
            raise
        if not padded:  # which every certificate says
            self._session._records.engine += ", answered without slots"
        declared = self._session.policy
        self.rehearsals = RehearsalChildren(declared)
        self._slots = SlotLengths(
            name, declared, database, self.rehearsals.seconds, shortest=slot
        )

    @classmethod
    def open(
        cls,
        file: Path,
        database: ServerDatabase,
        *,
        name: str | None = None,
        **how: float | bool | int,
    ) -> "ServedPolicy":
        """The policy in a file."""
        from deniable.policy.file import name_line_in_errors

        with name_line_in_errors(str(file)):
            policy = load_with_ledger(str(file))
            served = cls(name or served_name(file), policy, database, **how)  # type: ignore[arg-type]
            served.file, served.text = file, file.read_text(encoding="utf-8")
            return served

    def reread(self) -> None:
        """Takes over limits of analysts that the owner granted since the start.

        The ledger has them already. Anything else in an edited file waits for the next start.
        """
        try:
            text = self.file.read_text(encoding="utf-8")
            policy = self.declared if text == self.text else load(str(self.file))
        except (OSError, DeniableError):
            return
        if _without_analysts(policy) != _without_analysts(self.declared):
            return
        terms = self.terms
        if Terms.from_policy(policy).with_tables_of(terms) == terms:
            self.text, self.declared = text, policy

    @property
    def terms(self) -> Terms:
        """The terms in force."""
        ledger: Any = self._session.ledger
        return Terms.from_json(ledger.terms_entry()["terms"])

    def session_for(self, analyst: str) -> ServedSession:
        """A session for plans and budgets of one person; it runs nothing."""
        return for_question(self._session, analyst, Timetable(0.0, ()))

    def slot_lengths(self, plans: Sequence[Plan]) -> list[float]:
        """The length of each step's slot; without slots, how long each may take."""
        if not self.padded:
            return [self.time_limit] * len(plans)
        return [self._slots.of(plan, canonical.plan_form(plan)[1]) for plan in plans]

    def has_slots(self, plans: Sequence[Plan]) -> bool:
        """Whether the lengths of all slots are known, so that no plan must be rehearsed."""
        hashes = (canonical.plan_form(plan)[1] for plan in plans)
        return not self.padded or all(self._slots.known(each) is not None for each in hashes)

    def is_open_to(self, person: Person) -> bool:
        """Whether all tables are there for a person."""
        return person.may_read(self.name, list(self.declared.tables))

    def policy_for(self, person: Person) -> Policy:
        """The policy with the tables that are there for a person, and no others."""
        policy = self._session.policy
        tables = [
            table
            for table in policy.tables.values()
            if person.may_read(
                self.name, [path_table.name for path_table in path_tables(table, policy.tables)]
            )
        ]
        units = {(table.unit or "").lower() for table in tables}
        if not tables:
            raise InvalidParameter("Your token opens no table of this policy.")
        return Policy(
            tables,
            epsilon=policy.epsilon,
            delta=policy.delta,
            schedule=policy.budget.schedule,
            filters=policy.filters,
            units={unit: budget for unit, budget in policy.units.items() if unit in units},
            analysts=policy.analysts,
            memory=policy.memory,
        )

    @property
    def session(self) -> ServedSession:
        """The session of nobody: the policy with its schemas, and the ledger."""
        return self._session

    @property
    def engine(self) -> PooledEngine:
        """The children."""
        return self._engine

    @property
    def policy_hash(self) -> str:
        """The hash of the policy as its owner wrote it."""
        return self._session._records.policy_hash

    def close(self) -> None:
        """Ends the children and closes the ledger."""
        self.rehearsals.close()
        self._session.close()


def _without_analysts(policy: Policy) -> tuple[object, ...]:
    written = {**write_policy(policy), "analysts": {}}
    return written, source_names(policy), policy.ledger, policy.ledger_key, policy.ledger_id
