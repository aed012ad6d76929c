"""Opens what a policy names: the engine over its sources, its ledger and the owner's log."""

from collections.abc import Callable
from typing import TypeVar

from deniable.engines.opening import open_engine
from deniable.ledger.durable_ledger import open_ledger
from deniable.policy import Policy
from deniable.release.session.door import Door
from deniable.release.session.owner_log import log_path, log_to

AnyDoor = TypeVar("AnyDoor", bound=Door)


def connect(
    policy: Policy,
    door: type[AnyDoor],
    *,
    analyst: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> AnyDoor:
    """A door (or a session, which is one) to the tables of a policy.

    >>> from deniable.policy import Table
    >>> import pyarrow as pa
    >>> with connect(Policy([Table("data", pa.table({"x": [1]}))], epsilon=1), Door) as door:
    ...     print(door.remaining)
    epsilon 1, delta 0
    """
    log = log_path(policy)
    with log_to(log):
        engine = open_engine(policy)
    engine.progress = progress
    return door(policy, engine, open_ledger(policy), analyst=analyst, log=log)
