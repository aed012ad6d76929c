"""`deniable tables`: everything that is public, and nothing else."""

from fractions import Fraction

import pyarrow as pa

from deniable.app.cli.commands.tables import describe_keys, describe_unit
from deniable.policy import Column, Table


def test_everything_public_is_listed(run):
    status, out, err = run("tables")
    text = " ".join(out.split())
    assert (status, err) == (0, "")
    for told in ("visits", "one patient", "2 groups", "3 rows", "A, B, C", "0 to 100", "0.01",
                 "private", "epsilon 3"):  # fmt: skip
        assert told in text
    assert "CANARY" not in text
    assert "flu" not in text


def test_whose_privacy_in_words():
    assert describe_unit(Table("t", public=True)) == "public"
    assert "each row" in describe_unit(Table("t", neighbors="replace"))
    assert "replace" in describe_unit(Table("t", neighbors="replace"))


def test_long_lists_of_keys_are_cut():
    assert describe_keys(Column("c", keys=range(1, 1001))) == "1, 2, 3, 4, 5, ... (1,000)"
    assert describe_keys(Column("c", bounds=(0, Fraction(1, 3)))) == ""


def test_a_name_is_not_markup(run, hospital):
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"[red]x": [1]}), hospital / "visits.parquet")
    (hospital / "deniable.toml").write_text(
        '[budget]\nepsilon = 1\n[tables."[bold]v"]\nsource = "visits.parquet"\n'
    )
    status, out, _ = run("tables")
    assert status == 0
    assert "[bold]v" in out
    assert "[red]x" in out


def test_what_is_left_is_the_ledgers_if_there_is_one(run, hospital):
    before = sorted(hospital.iterdir())
    assert "Budget: epsilon 3, delta 1e-06." in run("tables")[1]
    assert sorted(hospital.iterdir()) == before
    assert run("sql", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5")[0] == 0
    assert "Budget: epsilon 2.5" in run("tables")[1]


def test_without_a_ledger_that_can_be_used_tables_are_listed(run, hospital):
    (hospital / "taken.sqlite").mkdir()
    with (hospital / "deniable.toml").open("a") as policy:
        policy.write('\n[ledger]\nstore = "taken.sqlite"\n')
    status, out, err = run("tables")
    assert (status, err) == (0, "")
    assert "visits" in out
    assert "Budget: what is left is not known. The ledger" in " ".join(out.split())
