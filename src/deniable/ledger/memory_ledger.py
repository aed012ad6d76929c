"""A ledger in the memory of this process: for notebooks, rehearsals and tests."""

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number
from deniable.ledger.chained_ledger import ChainedLedger
from deniable.ledger.journal import MemoryJournal
from deniable.ledger.opened_ledger import Clock, utc_now
from deniable.ledger.stores.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget


class MemoryLedger(ChainedLedger):
    """A ledger in memory: it lives as long as the process.

    >>> ledger = MemoryLedger(epsilon=1, delta=1e-6)
    >>> print(ledger.remaining)
    epsilon 1, delta 1e-06
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 0,
        *,
        terms: Terms | None = None,
        clock: Clock = utc_now,
    ) -> None:
        if terms is None:
            terms = Terms.from_budget(_budget(epsilon, delta))
        super().__init__(terms, MemoryJournal(SigningKey.new()), clock=clock)


def _budget(epsilon: Number | None, delta: Number) -> Budget:
    if epsilon is None:
        raise InvalidParameter(
            "A ledger needs a budget. Give `epsilon`, or `terms` made from a policy."
        )
    try:
        return Budget(epsilon, delta)
    except InvalidPolicy as problem:
        raise InvalidParameter(str(problem)) from None
