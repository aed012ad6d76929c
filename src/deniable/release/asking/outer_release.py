"""The answer of SQL over released rows: its rows and margins, and the releases behind it."""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from deniable.exact.foreign_text import printable
from deniable.exact.text_formats import percent
from deniable.ledger.ledger import Remaining
from deniable.privacy import Loss
from deniable.release.answer.answer_table import Answer
from deniable.release.answer.record import fingerprint
from deniable.release.certificate.outer_certificate import (
    OuterCertificate,
    outer_message,
    state_inner,
    write_outer_document,
)
from deniable.release.session.release import Release


@dataclass(frozen=True, slots=True, repr=False)
class OuterRelease(Release):
    """What SQL made of released rows. It costs what the private parts cost, and no more.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> data = dp.protect(pa.table({"x": [1, 2] * 50}), keys={"x": [1, 2]}, epsilon=1)
    >>> inner = "SELECT x, COUNT(*) AS n FROM data GROUP BY x"
    >>> answer = data.sql(f"SELECT x, SUM(n) OVER () AS all_n FROM ({inner})", epsilon=0.5)
    >>> answer.columns, [part.columns for part in answer.inner.values()]
    (('x', 'all_n'), [('x', 'n')])
    """

    inner: "dict[str, Release]" = None  # type: ignore[assignment]  # the private parts, by name
    outer: str = ""  # the SQL over them
    outer_notes: tuple[str, ...] = ()
    outer_certificate: OuterCertificate | None = None  # None for a rehearsal

    @property
    def loss(self) -> Loss:
        """The privacy loss of all private parts."""
        return reduce(add, (part.plan.loss for part in self.inner.values()))

    @property
    def units(self) -> dict[str, str]:
        """Margins are in the unit of their numbers."""
        return {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the private parts."""
        return tuple(dict.fromkeys(w for part in self.inner.values() for w in part.warnings))

    def to_dict(self) -> dict[str, Any]:
        """Rows, the releases of all private parts and the certificate, ready for JSON."""
        parts = {name: part.to_dict() for name, part in self.inner.items()}
        return write_outer_document(self.answer.table, parts, self.outer_certificate)

    def _footer(self) -> str:
        plans = [part.plan for part in self.inner.values()]
        none = Fraction(0)
        cost = Remaining(
            sum((p.epsilon for p in plans), none), sum((p.delta for p in plans), none)
        )
        again = " (charged before; the private parts are the same)" if self.repeated else ""
        lines = [
            f"Margins hold at {percent(plans[0].confidence)} each. Cost: {cost}{again}. Left: "
            f"{self.remaining}.",
            *self.outer_notes,
            *dict.fromkeys(note for plan in plans for note in plan.notes),
            *self.warnings,
        ]
        return "\n".join([*self._rehearsal_notice(), *map(printable, lines)])


def state_outer(
    answer: Answer, inner: dict[str, Release], outer: str, notes: tuple[str, ...], key: str
) -> dict[str, Any]:
    """What is signed about the rows."""
    own = {name: part.certificate for name, part in inner.items()}
    confidence = next(iter(inner.values())).plan.confidence
    return {
        "outer": outer,
        "inner": [state_inner(n, {} if c is None else c.to_dict()) for n, c in own.items()],
        "answer_hash": fingerprint(answer.table),
        "margins": dict(answer.margins),
        "notes": list(notes),
        "confidence": str(confidence),
        "key": key,
    }


__all__ = ["OuterRelease", "outer_message", "state_outer"]
