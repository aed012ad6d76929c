"""Ends of intervals that do not fit their numbers are found, even if they were signed."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deniable as dp
from deniable.errors import InvalidCertificate
from deniable.release.certificate.certificate import Certificate, signed_message
from deniable.release.certificate.verification import verify
from tests.release.certificate.signing import signed


@pytest.fixture(scope="module")
def session():
    frame = pa.table(
        {
            "ward": ["ABC"[i % 3] for i in range(6000)],
            "cost": [float(i * 7 % 500) for i in range(6000)],
        }
    )
    declared = {"bounds": {"cost": (0, 500)}, "keys": {"ward": ["A", "B", "C"]}}
    with dp.protect(frame, name="visits", epsilon=1000, **declared) as opened:
        yield opened


ENDS = {
    "count": "SELECT COUNT(*) AS n FROM visits",
    "by ward": "SELECT ward, SUM(cost) AS n FROM visits GROUP BY ward",
    "average": "SELECT AVG(cost) AS n FROM visits",
    "median": "SELECT ward, MEDIAN(cost) AS n FROM visits GROUP BY ward",
}


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("question", ENDS)
def test_an_interval_that_does_not_fit_its_margin_is_found(session, question, side):
    release = session.sql(ENDS[question], epsilon=0.4)
    assert verify(release.to_dict())
    table = release.to_arrow()
    name = next(n for n in table.column_names if n.startswith("n") and n.endswith("_margin"))
    end = name.replace("margin", side)
    shift = pa.scalar(-2 if side == "low" else 2).cast(table[end].type)
    wide = pc.add(table[end], pc.multiply(shift, table[name].cast(table[end].type)))
    for moved in (wide, pa.nulls(len(table), table[end].type)):
        place = table.column_names.index(end)
        lie = signed(session, release, release.plan, table.set_column(place, end, moved))
        with pytest.raises(InvalidCertificate, match=r"n_(high|low)"):
            verify(lie)
    without = signed(session, release, release.plan, table.drop_columns([end]))
    with pytest.raises(InvalidCertificate, match=side):
        verify(without)


def test_the_ends_of_a_count_are_both_one_margin_away(session):
    release = session.sql(ENDS["count"], epsilon=0.3)
    table = release.to_arrow()
    near = table.set_column(2, "n_low", table["n"])
    with pytest.raises(InvalidCertificate, match="n_high"):
        verify(signed(session, release, release.plan, near))


def test_a_release_of_version_1_keeps_its_meaning(session):
    """It has margins only, and its certificate names that version."""
    release = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.2)
    answer = replace(
        release.answer, table=release.to_arrow().select(["ward", "n", "n_margin"]), ends={}
    )
    document = replace(
        release, answer=answer, certificate=older(session, release, answer)
    ).to_dict()
    assert "intervals" not in document
    assert document["version"] == 1
    assert "a certificate of version 1" in verify(document).checks
    with pytest.raises(InvalidCertificate, match="version"):
        verify(document | {"version": 2})


def older(session, release, answer):
    """The certificate of an answer, as version 1 wrote it."""
    document = signed(session, release, release.plan, answer.table)["certificate"]
    statement = document["statement"] | {"version": 1}
    signature = session.ledger.sign(signed_message(statement))
    return Certificate(statement, document["plan"], session.ledger.public_key, signature)


@pytest.mark.parametrize("side", ["low", "high"])
def test_one_end_of_a_maximum_is_itself_and_the_other_a_bound(session, side):
    release = session.sql("SELECT MAX(cost) AS m FROM visits", epsilon=0.6)
    table = release.to_arrow()
    assert table["m_low"] == table["m"]
    assert table["m_high"].to_pylist() == [500]
    moved = table.set_column(
        table.column_names.index(f"m_{side}"), f"m_{side}", pc.subtract(table[f"m_{side}"], 1)
    )
    with pytest.raises(InvalidCertificate, match=f"m_{side}"):
        verify(signed(session, release, release.plan, moved))
