from fractions import Fraction

import pytest

import deniable as dp
from deniable.app.publish.released_tables import read_released


@pytest.fixture
def owner(tmp_path):
    """A folder with two releases of one owner, and the owner's key."""
    (tmp_path / "visits.csv").write_text(
        "ward,day,cost\n" + "A,2026-01-01,10.5\nB,2026-01-02,20\n" * 200
    )
    file = tmp_path / "deniable.toml"
    file.write_text(
        '[budget]\nepsilon = 9\n[tables.visits]\nsource = "visits.csv"\n'
        '[tables.visits.columns]\nward = { keys = ["A", "B"] }\n'
        "cost = { bounds = [0, 100] }\n"
    )
    with dp.open(str(file)) as session:
        count = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"
        session.sql(count, epsilon=Fraction(2)).save(tmp_path / "by ward.json")
        median = "SELECT MEDIAN(cost) AS middle FROM visits"
        session.sql(median, epsilon=1).save(tmp_path / "Middle.json")
        (tmp_path / "owner.pub").write_text(session.ledger.public_key)
    return tmp_path


@pytest.fixture
def tables(owner):
    key = (owner / "owner.pub").read_text()
    return [read_released(owner / name, key=key) for name in ("by ward.json", "Middle.json")]
