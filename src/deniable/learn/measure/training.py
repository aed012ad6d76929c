"""One training: its rows as whole numbers, one charge, and steps within it.

A step is a `StepProgram`: whole numbers of each row (`row_integers`), added up at public
places. It becomes one Plan, which the kernel checks, and comes back as `NoisySums`: noisy
integers and the law of their noise. No exact integer leaves the session.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from deniable.learn.fit.noisy_sums import NoisySums
from deniable.learn.measure.column_roles import CellRole, GridRole
from deniable.learn.measure.training_data import TrainingData
from deniable.mechanisms import Gaussian
from deniable.privacy import Loss
from deniable.query.plan.plan import Plan
from deniable.query.planner.step_plans import StepPlanner
from deniable.query.statements.row_integers import Ref
from deniable.query.statements.step_statement import StepProgram, sum_name
from deniable.release.session.door import Door
from deniable.release.session.release import Release
from deniable.release.session.runs import Run

Role: TypeAlias = CellRole | GridRole
Progress: TypeAlias = Callable[[float], None]


class Training:
    """The columns of a training, in order: column i is `Ref(f"c{i}")` in programs.

    All steps read the same rows: those that have a cell in every column, and of each unit at
    most as many as the table's limit says.
    """

    def __init__(self, data: TrainingData, roles: Sequence[Role]) -> None:
        self.data, self.roles = data, tuple(roles)
        counted = [role.counted for role in self.roles]
        self.planner = StepPlanner(data.session.policy, data.table, counted, source=data.joined)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values the number of each column has."""
        return tuple(role.size for role in self.roles)

    def ref(self, name: str) -> Ref:
        """The number of a column, by the column's name."""
        names = [role.name.lower() for role in self.roles]
        return Ref(f"c{names.index(name.lower())}")

    def deviation(self, program: StepProgram, mu_squared: Fraction) -> float:
        """The standard deviation that a step's numbers will have at a price."""
        return float((self.planner.sensitivities(program)[1] / mu_squared) ** 0.5)

    @contextmanager
    def reserve(
        self, loss: Loss, *, delta: Fraction, progress: Progress | None = None
    ) -> "Iterator[TrainingRun]":
        """Charges the whole training at once. Each step must fit what is left of it."""
        spare = delta if delta else None
        charged, *others = self.data.charged_sessions()
        self._check_early(charged)
        for session in others:  # a run without steps: these parts pay for the same training
            with session.reserve_run(loss, tables=self.data.tables, delta=spare):
                pass
        with charged.reserve_run(loss, tables=self.data.tables, delta=spare) as run:
            yield TrainingRun(self, run, delta, progress)

    def _check_early(self, session: Door) -> None:
        """Refuses before the charge what would be refused after it.

        Steps depend on the answers before them, so one stands in for them: it reads all columns
        of the rows that every step reads. Each step is checked again, itself, before it runs.
        """
        numbers = tuple(Ref(f"c{i}") for i in range(len(self.roles)))
        program = StepProgram(self.sizes, (), (), numbers)
        price = {"epsilon": Fraction(1), "delta": Fraction(0)}
        plan = self.planner.plan_step(program, "all columns", **price)
        session.check(self.data.session.rows.restrict(plan, session.policy))


@dataclass(slots=True)
class TrainingRun:
    """A training that is paid for: its steps, one after the other."""

    training: Training
    run: Run
    delta: Fraction
    progress: Progress | None = None
    releases: list[Release] = field(default_factory=list)

    def step(
        self,
        program: StepProgram,
        about: str,
        *,
        mu_squared: Fraction | None = None,
        epsilon: Fraction | None = None,
    ) -> NoisySums:
        """The noisy sums of one step, at a price in mu squared (Gaussian noise) or in epsilon
        (Laplace noise)."""
        plan = self.training.planner.plan_step(
            program, about, mu_squared=mu_squared, epsilon=epsilon, delta=self.delta
        )
        session = self.training.data.session
        release = self.run.release(session.rows.restrict(plan, session.policy))
        self.releases.append(release)
        return read_sums(release)

    def tell(self, share: float) -> None:
        """Tells the owner how much of the training is done."""
        if self.progress is not None:
            self.progress(share)


def read_sums(release: Release) -> NoisySums:
    """The noisy integers of a step's release."""
    plan: Plan = release.plan
    table, block = release.to_arrow(), plan.blocks[0]
    columns = [np.asarray(table[sum_name(i)]) for i in range(len(block.features))]
    values = np.stack([np.rint(column).astype(np.int64) for column in columns], axis=1)
    mechanism = block.mechanism
    if isinstance(mechanism, Gaussian):
        return NoisySums(values, Fraction(mechanism.variance), gaussian=True)
    assert mechanism.epsilon is not None
    scale = Fraction(mechanism.sensitivity) / mechanism.epsilon
    return NoisySums(values, 2 * scale**2, gaussian=False, scale=scale)
