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
from deniable.learn.measure.training_data import TrainingData, protected
from deniable.ledger.accounts import PartPath
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
    >>> rows = pa.table({"x": x, "y": [value > 0.5 for value in x]})
    >>> data = dp.protect(rows, bounds={"x": (0, 1)}, epsilon=1)
    >>> train, test = hold_out(data.table("data"), 0.25)
    >>> model = dp.learn.NaiveBayes(epsilon=1).fit(train, target="y")
    >>> model.score(test, target="y", epsilon=1) > 0.7, str(data.remaining)
    (True, 'epsilon 0, delta 0')
    """
    held = rational(share, "share")
    if not 0 < held < 1:
        raise InvalidParameter(f"`share` must be between 0 and 1. Found {share}.")
    data, word = _whole(table), _read_key(key)
    column = hashed_column(data.table, held, word)
    return _divide(data, column, partition_name(data.table, column))


def split_folds(
    table: BuiltQuestion, count: int, key: str | None = None
) -> tuple[list[tuple[BuiltQuestion, BuiltQuestion]], list[PartPath]]:
    """For each fold, the rows outside of it and the rows in it; and the folds as parts that the
    ledger knows. What reads the rows outside of a fold is to be charged to all other folds."""
    data, word = _whole(table), _read_key(key)
    edges = [Fraction(fold, count) for fold in range(count)]
    share = Fraction(1, count)
    columns = [hashed_column(data.table, share, word, start=edge) for edge in edges]
    partition = f"{partition_name(data.table, columns[0])} of {count}"
    paths: list[PartPath] = [((partition, str(fold)),) for fold in range(count)]
    return [_divide(data, column) for column in columns], paths


def _divide(
    data: TrainingData, column: str, partition: str | None = None
) -> tuple[BuiltQuestion, BuiltQuestion]:
    """The two parts of a division. Without a partition they are charged as the whole table."""
    session: Any = data.session
    parts = [
        session._about(
            TablePart(
                data.table.name,
                ((column, side),),
                () if partition is None else ((partition, side),),
            )
        )
        for side in (KEPT, HELD)
    ]
    return parts[0].table(data.table.name), parts[1].table(data.table.name)


def _whole(table: BuiltQuestion) -> TrainingData:
    """A whole protected table."""
    data = protected(table, None)
    if data.others:
        raise InvalidParameter(
            f"Rows of {data.table.name} with features from {data.others[0]} cannot be held out "
            "or put into folds: a part is read without other private tables. Nothing was spent."
        )
    if data.session.rows.part:
        raise InvalidParameter("This session is about a part already: hold out of the whole.")
    return data


def _read_key(key: str | None) -> str:
    word = secrets.token_hex(8) if key is None else str(key)
    if not word.isalnum():
        raise InvalidParameter(f"`key` must be letters and digits. Found {key!r}.")
    return word
