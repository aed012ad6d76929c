"""Private answers for attacks: noisy, in the places of the exact ones, within their epsilon."""

import numpy as np
import pyarrow as pa

from deniable.audit.attack.rows.owned_sources import read_owned
from deniable.audit.attack.rows.published_numbers import PublishedNumber
from deniable.audit.attack.rows.rehearsed_answers import (
    answer_privately,
    open_forgotten,
    tabulate_privately,
)
from deniable.audit.attack.rows.row_contributions import contribute

RNG = np.random.default_rng(4)
VISITS = pa.table(
    {
        "ward": RNG.choice(["A", "B"], 400),
        "age": RNG.integers(0, 4, 400),
        "ill": RNG.integers(0, 2, 400) == 1,
        "day": pa.array(RNG.integers(0, 3, 400), pa.int32()).cast(pa.date32()),
    }
)
OWNED = read_owned(VISITS, bounds={"age": (0, 3)}, step={"age": 1}, keys={"ward": ["A", "B"]})
ASKED = (
    "SELECT COUNT(*) AS n, SUM(age) AS s FROM data WHERE ill",
    "SELECT ward, age, COUNT(*) AS n FROM data GROUP BY ward, age",
    "SELECT ill, COUNT(*) AS n FROM data GROUP BY ill",
    "SELECT day, COUNT(*) AS n FROM data GROUP BY day",
)


def test_every_number_has_its_private_answer():
    """Also by numbers, truth values and days. At a huge epsilon it is nearly the exact one."""
    known = contribute(OWNED, ASKED)
    answers = answer_privately(OWNED, ASKED, known.numbers, epsilon=400)
    assert np.isfinite(answers).all()
    assert np.abs(answers - known.values().sum(axis=1)).max() < 3


def test_the_noise_is_that_of_a_small_epsilon():
    known = contribute(OWNED, ASKED[1:2])
    exact = known.values().sum(axis=1)
    errors = [
        answer_privately(OWNED, ASKED[1:2], known.numbers, epsilon=0.1) - exact
        for _ in range(10)
    ]
    assert 6 < np.std(errors) < 26  # discrete Laplace of scale 10 has 14


def test_all_questions_share_one_epsilon():
    """Four questions in the budget of one: each fits, and each has a quarter of it."""
    texts = [f"SELECT COUNT(*) AS n FROM data WHERE age < {i}" for i in range(4)]
    numbers = [PublishedNumber(i, "n", ()) for i in range(4)]
    answers = answer_privately(OWNED, texts, numbers, epsilon=1)
    assert np.isfinite(answers).all()


def test_a_key_that_is_not_shown_publishes_nothing():
    known = contribute(OWNED, ["SELECT COUNT(*) AS n FROM data GROUP BY ward"])
    texts = ["SELECT COUNT(*) AS n FROM data GROUP BY ward"]
    assert np.isnan(answer_privately(OWNED, texts, known.numbers, epsilon=1)).all()


def test_the_session_has_the_limits_of_the_table_and_a_ledger_of_its_own():
    limits = {"unit": "ward", "max_groups_per_unit": 3, "max_rows_per_unit_per_group": 5}
    with open_forgotten(read_owned(VISITS, **limits), epsilon=2) as session:
        table = session.policy.tables["data"]
        assert (table.unit, table.max_groups_per_unit) == ("ward", 3)
        assert table.max_rows_per_unit_per_group == 5
        assert session.policy.ledger is None


def test_cross_tables_have_their_cells_in_place():
    tables = [["ward", "ill"], ["ill"]]
    texts = [
        f"SELECT {', '.join(names)}, COUNT(*) AS n FROM data GROUP BY {', '.join(names)}"
        for names in tables
    ]
    known = contribute(OWNED, texts)
    cells = tabulate_privately(OWNED, tables, known.numbers, epsilon=50)
    assert np.abs(cells - known.values().sum(axis=1)).max() < 8
