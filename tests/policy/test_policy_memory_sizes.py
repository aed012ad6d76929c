import pytest

import deniable as dp
from deniable.errors import InvalidPolicy
from deniable.policy import Policy, Table
from deniable.policy.file import parse
from deniable.policy.policy import in_bytes

FILE = """
[budget]
epsilon = 1
[engine]
memory = {memory}
[tables.visits]
source = "visits.parquet"
"""


@pytest.mark.parametrize(
    ("amount", "size"),
    [("4 GB", 4 * 10**9), ("1.5GiB", 3 << 29), ("64 MiB", 64 << 20), (10**9, 10**9)],
)
def test_amounts_as_people_write_them(amount, size):
    assert in_bytes(amount) == size
    assert Policy([Table("visits")], epsilon=1, memory=amount).memory == size
    written = f'"{amount}"' if isinstance(amount, str) else amount
    policy = parse(FILE.format(memory=written))
    assert policy.memory == size
    assert policy.with_schemas({}).memory == size


@pytest.mark.parametrize(
    "amount",
    [
        "4",
        "GB",
        "-4 GB",
        "4 potatoes",
        "63 MiB",
        0,
        -5,
        True,
        "1e9 GB",
        "9999999999",
        "4 GB or so",
        "80 gbit",
    ],
)
def test_what_is_no_amount_is_refused_with_its_line(amount):
    with pytest.raises(InvalidPolicy, match="such as"):
        in_bytes(amount)
    if amount is not True:
        written = f'"{amount}"' if isinstance(amount, str) else amount
        with pytest.raises(InvalidPolicy, match="line 5"):
            parse(FILE.format(memory=written))


def test_the_engine_keeps_to_it():
    import pyarrow as pa

    with dp.protect(pa.table({"a": [1]}), epsilon=1, memory="100 MB") as session:
        setting = session._engine._connect().execute("SELECT current_setting('memory_limit')")
        assert setting.fetchone()[0] in ("95.3 MiB", "95.4 MiB")
