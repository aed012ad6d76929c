"""Neighbouring lists of plain and odd values, and the containers that may hold them."""

import collections
import dataclasses
import datetime
import enum
import random
import uuid
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12)


class Unwritable:
    """Its methods raise, and the message is private."""

    def __str__(self):
        raise RuntimeError("secret")

    __float__ = __index__ = __bool__ = __eq__ = __ne__ = __str__
    __hash__ = object.__hash__


class Leaving(Unwritable):
    def __str__(self):
        raise SystemExit("secret")

    __float__ = __str__


class Letters(str):
    def encode(self, *_):
        raise RuntimeError("secret")

    __str__ = isascii = encode


class Grade(int):
    def __float__(self):
        raise RuntimeError("secret")

    __str__ = __float__


class Nowhere(datetime.tzinfo):
    def utcoffset(self, when):
        raise RuntimeError("secret")


class Ward(enum.Enum):
    A = "a"


PLAIN = {
    "integers": [*range(-3, 8), 10**6],
    "doubles": [0.5, -2.25, 3.0, 1e9, -0.0],
    "texts": ["a", "b", "", "5", "é", "2024-02-29"],
    "booleans": [True, False],
    "days": [DAY, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)],
    "moments": [NOON, pd.Timestamp(NOON), datetime.datetime(1970, 1, 1)],
    "nothing": [None],
    "nan": [float("nan")],
    "mixed": [1, "a", None, 2.5, True],
}
ODD = [
    *(None, float("nan"), pd.NA, pd.NaT, "", "a", "5", "nan", "1e400", "\ud800", "a\udfff"),
    *("x" * 100_000, "2024-02-29", "infinity", "true", "\0", Letters("a")),
    *(b"\xff", b"5", bytearray(b"5"), 0, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64),
    *(2**100, 10**400, 10**5000, Grade(3), -0.0, 2.5, 1e308, -1e308, float("inf")),
    *(float("-inf"), 1j, 1 + 0j, complex("nan"), True, Fraction(1, 3), Fraction(10**400)),
    *(Decimal(text) for text in ("NaN", "sNaN", "1E+400", "-Infinity", "1.50")),
    *(np.float16(1), np.float32("nan"), np.int8(-1), np.uint64(2**64 - 1), np.bool_(True)),
    *(np.longdouble(1) / 3, np.str_("a"), np.complex64(2j), np.datetime64("NaT")),
    *(np.datetime64(2**62, "s"), np.datetime64("2024"), np.timedelta64(5)),
    *(DAY, NOON, NOON.replace(tzinfo=datetime.UTC), NOON.replace(tzinfo=Nowhere())),
    datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=9))),
    *(datetime.time(12), datetime.timedelta(1), pd.Timestamp(1), pd.Timedelta(1)),
    *(pd.Period("2024"), pd.Interval(0, 1), uuid.UUID(int=7), Ward.A, Ward, object(), len),
    *(Unwritable(), Leaving(), [1], (1, 2), {"a": 1}, {1}),
    *(np.zeros(2), np.zeros((2, 2)), np.array(5.0)),
]


@dataclasses.dataclass(frozen=True)
class Neighbours:
    """How two tables differ in one row: it is replaced, or is only in the second table."""

    length: int  # of the first table
    place: int
    replace: bool

    @classmethod
    def draw(cls, rng: random.Random):
        """Either relation, at any place of a short table."""
        length = rng.randrange(6)
        place = rng.randrange(length + 1)
        return cls(length, place, place < length and rng.random() < 0.5)

    def values(self, rng: random.Random):
        """A column of both tables: plain values, and an odd one in the row that differs."""
        pool = PLAIN[rng.choice([*PLAIN])]
        first = [rng.choice(pool) for _ in range(self.length)]
        return first, [
            *first[: self.place],
            rng.choice(ODD),
            *first[self.place + self.replace :],
        ]

    def columns(self, rng: random.Random, make):
        """The same in a container; other values if its own library refuses one of them."""
        while True:
            try:
                first, second = self.values(rng)
                return make(first), make(second)
            except KeyboardInterrupt:
                raise
            except BaseException:  # Polars panics, which is no Exception
                continue

    def others(self, first, second):
        """The rows that both tables have, as they are in each."""
        if self.replace:
            return drop(first, self.place), drop(second, self.place)
        return list(first), drop(second, self.place)


def drop(values, place):
    """The values without the one at a place."""
    return [*values[:place], *values[place + 1 :]]


class Stream:
    """Only gives Arrow's stream, like a library that nobody knows."""

    def __init__(self, content):
        self.content = content

    def __arrow_c_stream__(self, requested_schema=None):
        return self.content.__arrow_c_stream__(requested_schema)


def objects(values):
    """A NumPy array of these objects."""
    array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array


def _to_polars(values):
    for value in values:  # of which Polars itself panics, or complains at its end
        infinite = isinstance(value, Decimal) and not value.is_finite()
        if infinite or isinstance(value, Unwritable):
            raise TypeError("no value for Polars")
    return pl.Series(values=values, strict=False)


def _to_arrow_in_pandas(values):
    return pd.Series(pd.array(values, dtype=pd.ArrowDtype(pa.array(values).type)))


def _shaped(array):
    if array.ndim != 1:
        raise ValueError("not one value a row")
    return array


# Containers that keep every value as it is, and containers that choose a type for all values.
PANDAS = {
    "pandas": lambda values: pd.Series(list(values)),
    "objects": lambda values: pd.Series(objects(values)),
    "python text": lambda values: pd.Series(objects(values), dtype="string[python]"),
}
POLARS = {"polars objects": lambda values: pl.Series(values=values, dtype=pl.Object)}
KEEPING = {
    "list": list,
    "tuple": tuple,
    "deque": collections.deque,
    "generator": lambda values: (value for value in values),
    "numpy objects": objects,
    "pandas index": lambda values: pd.Index(objects(values)),
    "narwhals": lambda values: nw.from_native(pd.Series(objects(values)), series_only=True),
    **PANDAS,
    **POLARS,
}
PANDAS_TYPED = {
    # pandas makes one category of 1 and True, and keeps the first of the two.
    "categories": lambda values: pd.Series(pd.Categorical(objects(values))),
    "nullable": lambda values: pd.Series(list(values)).convert_dtypes(),
    "arrow in pandas": _to_arrow_in_pandas,
}
POLARS_TYPED = {"polars": _to_polars}
ARROW = {
    "arrow": pa.array,
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
    "chunks": lambda values: pa.chunked_array([pa.array(values)]),
}
CHOOSING = {
    "numpy": lambda values: _shaped(np.array(values)),
    "masked": lambda values: np.ma.masked_array(_shaped(np.array(values)), [0] * len(values)),
    "stream": lambda values: Stream(pa.chunked_array([pa.array(values)])),
    **PANDAS_TYPED,
    **POLARS_TYPED,
    **ARROW,
}
CONTAINERS = {**KEEPING, **CHOOSING}
# Frames: what makes one of columns, and the containers that such a frame's columns may be.
FRAMES = {
    "pandas": (pd.DataFrame, {**PANDAS, **PANDAS_TYPED}),
    "polars": (pl.DataFrame, {**POLARS, **POLARS_TYPED}),
    "arrow": (pa.table, ARROW),
    "stream": (lambda columns: Stream(pa.table(columns)), ARROW),
    "narwhals": (lambda columns: nw.from_native(pl.DataFrame(columns)), POLARS_TYPED),
}


def draw_frames(rng: random.Random, names):
    """Two neighbouring frames, and the names of the columns that keep every value."""
    shape = Neighbours.draw(rng)
    make, containers = FRAMES[rng.choice([*FRAMES])]
    first, second, keeping = {}, {}, []
    for name in names:
        container = rng.choice([*containers])
        first[name], second[name] = shape.columns(rng, containers[container])
        keeping += [name] if container in KEEPING else []
    return shape, make(first), make(second), keeping
