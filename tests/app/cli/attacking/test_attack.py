"""`deniable attack`: for the owner, with pages that only she can read."""

import pytest

import deniable as dp
from deniable.app.cli import main

QUESTIONS = "".join(
    f"SELECT COUNT(*) AS n FROM visits WHERE ill AND id < {i};\n" for i in range(1, 21)
)
POLICY = """
[budget]
epsilon = 3
[tables.visits]
source = "visits.csv"
[tables.visits.columns]
id = { bounds = [0, 100], step = 1 }
ill = { kind = "boolean" }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rows = "".join(f"{i},{i % 3 == 0}\n" for i in range(20))
    (tmp_path / "visits.csv").write_text(f"id,ill\n{rows}")
    (tmp_path / "deniable.toml").write_text(POLICY)
    (tmp_path / "log.sql").write_text(QUESTIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def attack(folder, capsys):
    def run(*words):
        with pytest.raises(SystemExit) as left:
            main(["attack", *words])
        told = capsys.readouterr()
        return left.value.code, told.out, told.err

    return run


def begin(folder):
    with dp.open(str(folder / "deniable.toml")):
        pass


def test_linkage_of_a_data_file(attack):
    status, out, _ = attack("visits.csv")
    assert status == 0
    assert out.startswith("EXACT FACTS ABOUT REAL PEOPLE")
    assert "20 (100.0 %)" in out


def test_a_log_against_a_policy_needs_the_key(attack, folder):
    words = ("--log", "log.sql", "--secret", "ill", "--page", "page.html")
    status, out, err = attack(*words)
    assert (status, out) == (2, "")
    assert "private key" in err
    begin(folder)
    status, out, _ = attack(*words)
    assert status == 0
    assert (
        "With exact answers 100 % of the values of ill are recovered; with epsilon 1, " in out
    )
    assert (folder / "page.html").stat().st_mode & 0o777 == 0o600


def test_nothing_is_charged(attack, folder):
    begin(folder)
    attack("--log", "log.sql", "--secret", "ill")
    with dp.open(str(folder / "deniable.toml")) as session:
        assert session.remaining.epsilon == 3


def test_made_up_rows_need_no_key_and_may_be_shown(attack):
    status, out, _ = attack("--made-up", "--log", "log.sql", "--secret", "ill")
    assert status == 0
    assert out.startswith("MADE-UP ROWS")


def test_differencing_without_a_secret(attack):
    words = ("visits.csv", "--table", "visits", "--log", "log.sql", "--fewer-than", "2")
    status, out, _ = attack(*words)
    assert status == 0
    assert "Differencing" in out


def test_attribute_inference(attack):
    status, out, _ = attack("visits.csv", "--secret", "ill", "--known", "id")
    assert status == 0
    assert "leak" in out


def test_reconstruction_of_a_secret(attack):
    status, out, _ = attack("visits.csv", "--secret", "ill")
    assert status == 0
    assert "20 people, 80 sums over random groups" in out
    assert "noise 0: 100.0 %" in out


def test_membership_by_averages_and_by_a_copy(attack, folder):
    rows = "".join(f"{i % 2 == 1},{i % 3 == 1}\n" for i in range(100))
    (folder / "bits.csv").write_text(f"a,b\n{rows}")
    for members, what in (("averages", "exact averages"), ("copy", "the private copy")):
        status, out, err = attack("bits.csv", "--members", members)
        assert (status, err) == (0, "")
        assert out.startswith("EXACT FACTS ABOUT REAL PEOPLE")
        assert what in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("visits.csv", "--secret", "id"), "two values"),
        (("visits.csv", "--members", "all"), "averages or copy"),
        (("visits.csv", "--members", "copy", "--secret", "ill"), "averages or copy"),
        (("visits.csv", "--known", "id"), "--secret"),
        (("visits.csv", "--known", "id", "--log", "log.sql"), "--known goes with"),
        (("visits.csv", "--members", "averages", "--unit", "id"), "leave out --unit"),
        (("visits.csv", "--secret", "ill", "--unit", "id"), "leave out --unit"),
        (("visits.csv", "--columns", "nix"), "no column"),
        (("visits.csv", "--page", "nowhere/page.html"), "cannot be written"),
        (("visits.csv", "--lgo", "log.sql"), "--log"),
        (("visits.csv", "--log", "log.sql", "--secret", "ill", "--epsilon", "x"), "epsilon"),
    ],
)
def test_wrong_words_get_one_line(attack, words, told):
    status, out, err = attack(*words)
    assert (status, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1
