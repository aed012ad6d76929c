"""Two parts of a protected table, by a keyed hash: one to train on, one to be tested on.

The hash is of the unit's id, so that a person is in one part with all rows; where rows are
units, of the row's content (a row's number would shift for everybody when one row goes). The
ledger knows both as parts of one division: together they cost as much as the dearer of the two
(add-remove), or as both (replace).
"""

import secrets
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter
from deniable.exact.rationals import Number, rational
from deniable.learn.measure.training_data import protected
from deniable.query.statements.partition import HELD, KEPT, hashed_column, partition_name
from deniable.release.asking.builder_steps import BuiltQuestion
from deniable.release.session.table_part import TablePart


def hold_out(
    table: BuiltQuestion, share: Number = Fraction(1, 5), *, key: str | None = None
) -> tuple[BuiltQuestion, BuiltQuestion]:
    """The rows to train on, and the rows to be tested on: about `share` of the units.

    `key` fixes who is held out: with the same key, the same units are. Without one it is drawn.

    >>> import deniable as dp
    >>> import pyarrow as pa
    >>> x = [i / 1000 for i in range(1000)]
    >>> rows = pa.table({"x": x, "y": [one > 0.5 for one in x]})
    >>> data = dp.protect(rows, bounds={"x": (0, 1)}, epsilon=1)
    >>> train, test = hold_out(data.table("data"), 0.25)
    >>> model = dp.learn.NaiveBayes(epsilon=1).fit(train, target="y")
    >>> model.score(test, target="y", epsilon=1) > 0.7, str(data.remaining)
    (True, 'epsilon 0, delta 0')
    """
    data = protected(table, None)
    held = rational(share, "share")
    if not 0 < held < 1:
        raise InvalidParameter(f"`share` must be between 0 and 1. Found {share}.")
    word = secrets.token_hex(8) if key is None else str(key)
    if not word.isalnum():
        raise InvalidParameter(f"`key` must be letters and digits. Found {key!r}.")
    session: Any = data.session
    if session.rows.part:
        raise InvalidParameter("This session is about a part already: hold out of the whole.")
    column = hashed_column(data.table, held, word)
    partition = partition_name(data.table, column)
    parts = [
        session._about(TablePart(data.table.name, ((column, one),), ((partition, one),)))
        for one in (KEPT, HELD)
    ]
    return parts[0].table(data.table.name), parts[1].table(data.table.name)
