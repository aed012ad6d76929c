"""What is handed over: numbers with their margins, the price, and what is left."""

import json
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deniable.errors import InvalidParameter
from deniable.ledger.ledger import Remaining
from deniable.privacy import Loss
from deniable.query.plan.plan import Plan
from deniable.release.answer import record, wording
from deniable.release.answer.answer import Answer
from deniable.release.certificate.certificate import Certificate

_NOT_KEPT = "Too large to be kept (over 4 MB): the same question again would be charged again."


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """A private answer: a table in which every number has a column of margins beside it.

    >>> import deniable as dp
    >>> ages = pa.table({"age": [34, 51, 29, 62] * 500})
    >>> people = dp.protect(ages, bounds={"age": (18, 90)}, epsilon=2)
    >>> answer = people.sql("SELECT COUNT(*) AS n FROM data", epsilon=1)
    >>> print(answer)  # doctest: +SKIP
            n
    ---------
    2,001 ± 3
    <BLANKLINE>
    Margins hold at 95 % each. Cost: epsilon 1, delta 0. Left: epsilon 1, delta 0. That is
    one more question like this one.
    >>> abs(answer.value - 2000) < 60, answer.margin
    (True, 3)
    """

    plan: Plan
    answer: Answer = field(compare=False)
    remaining: Remaining  # after this release
    certificate: Certificate | None = None  # of a rehearsal there is none
    more: str = ""  # how many more such questions the budget allows, in words
    repeated: bool = False  # whether it is the answer that was given before, at no cost
    rehearsal: bool = False  # whether the rows were made up
    kept: bool = True  # whether the same question again would get this answer, at no cost

    @property
    def loss(self) -> Loss:
        """What it cost: the losses of all that was run."""
        return self.plan.loss

    @property
    def units(self) -> dict[str, str]:
        """Of quantiles and modes: what their margins are counted in, "ranks" or "rows"."""
        return {one.name: one.margin_in for one in self.plan.outputs if one.margin_in}

    @property
    def columns(self) -> tuple[str, ...]:
        """Keys and numbers, without the columns of margins."""
        beside = set(self.answer.margins.values())
        return tuple(name for name in self.answer.table.column_names if name not in beside)

    @property
    def value(self) -> Any:
        """The number, where the answer is a single one."""
        return self.answer.table[self._only()][0].as_py()

    @property
    def margin(self) -> Any:
        """Its margin, where the answer is a single number."""
        return self.answer.table[self.answer.margins[self._only()]][0].as_py()

    def _only(self) -> str:
        if len(self) != 1 or len(self.answer.margins) != 1:
            raise InvalidParameter(
                "`value` and `margin` are those of a single number. This answer has "
                f"{len(self):,} rows and {len(self.answer.margins)} numbers in each: use "
                "to_pandas(), to_polars() or to_arrow()."
            )
        return next(iter(self.answer.margins))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to beware of: numbers smaller than their own margins."""
        wide = total = 0
        for name, beside in self.answer.margins.items():
            if name in self.units:
                continue
            value, half = self.answer.table[name], self.answer.table[beside]
            larger = pc.greater(half.cast(pa.float64()), pc.abs(value.cast(pa.float64())))
            unknown = pc.and_(value.is_valid(), half.is_null())
            total += len(value) - value.null_count
            wide += (pc.sum(larger).as_py() or 0) + (pc.sum(unknown).as_py() or 0)
        if not wide:
            return ()
        which = "the number" if total == 1 else f"{wide:,} of {total:,} numbers"
        return (
            f"Beware: the margin is larger than the value of {which}. A larger epsilon, fewer "
            "groups or more rows would help.",
        )

    def to_arrow(self) -> "pa.Table":
        """An Arrow table; the margins of `n` are in `n_margin`."""
        return self.answer.table

    def to_pandas(self) -> Any:
        """A pandas frame."""
        return self.answer.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars frame."""
        return import_module("polars").from_arrow(self.answer.table)

    def to_dict(self) -> dict[str, Any]:
        """Rows, margins, costs and the certificate, as JSON has them; amounts as exact text."""
        return {
            "columns": record.columns(self.answer.table),
            "rows": record.rows(self.answer.table),
            "margins": dict(self.answer.margins),
            "confidence": float(self.plan.confidence),
            "cost": {"epsilon": str(self.plan.epsilon), "delta": str(self.plan.delta)},
            "left": {
                "epsilon": str(self.remaining.epsilon),
                "delta": str(self.remaining.delta),
            },
            "notes": [*self.plan.notes, *self.warnings],
            "rehearsal": self.rehearsal,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        """The release as `deniable verify` and `deniable label` read it."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def save(self, path: str | Path) -> None:
        """Writes `to_json` to a file."""
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.answer.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return int(self.answer.table.num_rows)

    def plot(self, column: str | None = None) -> Any:
        """A picture of one number over the groups, with its margins."""
        return import_module("deniable.figures.releases").bars(self, column)

    def __str__(self) -> str:
        shown = wording.cells(self.answer.table, self.answer.margins, units=self.units)
        return f"{wording.text(*shown, len(self) - len(shown[1]))}\n\n{self._below()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = wording.cells(self.answer.table, self.answer.margins, units=self.units)
        return wording.html(*shown, len(self) - len(shown[1]), self._below())

    def _below(self) -> str:
        cost = Remaining(self.plan.epsilon, self.plan.delta)
        again = ", for the first time; this is the same answer again" if self.repeated else ""
        more = f" That is {self.more}." if self.more else ""
        price = (
            f"Margins hold at {wording.level(self.plan.confidence)} each. Cost: {cost}{again}. "
            f"Left: {self.remaining}.{more}"
        )
        large = [] if self.kept else [_NOT_KEPT]
        return "\n".join([*self._marked(), price, *large, *self.plan.notes, *self.warnings])

    def _marked(self) -> list[str]:
        return (
            ["REHEARSAL: the rows were made up. These numbers are about nobody."]
            if self.rehearsal
            else []
        )
