import html

import pytest

from deniable.app.server.accounts.people import People
from deniable.app.server.accounts.server_database import ServerDatabase
from tests.app.server.console.conftest import open_hospital

POLICY = "/console/hospital/policy"


def check(hospital, change, person="olga"):
    text = hospital.file.read_text()
    return hospital.visitor(person).submit(POLICY, draft=change(text), act="check")


def test_the_policy_in_force_says_what_it_allows(hospital):
    shown = hospital.visitor("olga").get(POLICY).text
    assert "all answers together" in shown
    assert shown.count("<circle") == 100
    assert "epsilon = 4" in shown
    audited = hospital.visitor("audrey").get(POLICY).text
    assert "Check the draft" not in audited
    assert "epsilon = 4" in audited


def test_a_mistake_is_told_with_its_line(hospital):
    shown = check(hospital, lambda text: text.replace("unit =", "unti ="))
    line = 1 + hospital.file.read_text().splitlines().index('unit = "patient"')
    assert f"draft.toml, line {line}" in shown.text
    assert "ledger amend" not in shown.text
    broken = check(hospital, lambda text: f"{text}\nepsilon =").text
    assert "draft.toml is not valid TOML" in broken
    assert "dp.protect" not in broken  # which is for files of data


def test_what_is_given_away_is_told_with_the_command_to_consent(hospital):
    before = hospital.visitor("olga").get("/v1/hospital/ledger/head").text
    shown = check(hospital, lambda text: text.replace("epsilon = 1", "epsilon = 2")).text
    assert "the limit of analyst * is looser by epsilon 1" in shown
    assert "deniable ledger amend --policy" in shown
    assert "removed" in shown
    assert "added" in shown
    assert hospital.visitor("olga").get("/v1/hospital/ledger/head").text == before
    assert "epsilon = 1" in hospital.file.read_text()


def test_what_narrows_gives_away_nothing(hospital):
    shown = check(hospital, lambda text: text.replace("epsilon = 1", "epsilon = 0.5")).text
    assert "gives away nothing more" in shown


def test_what_was_fixed_is_refused_by_the_ledger(hospital):
    shown = check(hospital, lambda text: text.replace("epsilon = 4", "epsilon = 5")).text
    assert "The ledger refuses this draft" in shown
    assert "ledger amend" not in shown


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("visits.csv", "/etc/passwd"),
        lambda text: text.replace("visits.csv", "../server.sqlite"),
        lambda text: text.replace('"visits.csv"', '"postgresql://db.example/other"'),
        lambda text: text + '\n[tables.more]\nsource = "other.csv"\n',
    ],
)
def test_a_browser_names_no_new_source(hospital, change):
    shown = check(hospital, change).text
    assert "cannot name a new source" in shown
    assert "ledger amend" not in shown


def test_a_browser_names_no_other_store(hospital):
    shown = check(
        hospital, lambda text: text.replace("[ledger]", '[ledger]\nkey = "other.key"')
    )
    assert "cannot change [ledger]" in shown.text


def test_only_the_owner_checks_drafts(hospital):
    for person in ("ann", "audrey", "paul", "otto"):
        assert check(hospital, str, person).status_code == 403


def test_a_draft_is_downloaded_as_it_is(hospital):
    done = hospital.visitor("olga").submit(POLICY, draft="# <b>", act="download")
    assert done.text == "# <b>"
    assert done.headers["content-disposition"] == 'attachment; filename="hospital.toml"'


SECRET = """
# wages come from the payroll office
[tables.wages]
source = "visits.csv"
unit = "age"
max_groups_per_unit = 1
max_rows_per_unit_per_group = 1
[tables.wages.columns]
cost = { bounds = [0, 110], step = 1 }  # salaries
[units.age]
epsilon = 3.25
"""


@pytest.fixture
def two_tables(tmp_path):
    """A console whose auditor may look at one table of two."""
    with open_hospital(tmp_path, hospital={"more": SECRET}) as hospital:
        people = People(ServerDatabase(hospital.file.parent.parent / "server.sqlite"))
        for person in ("audrey", "olga"):
            people.grant(person, tables=["visits"])
        yield hospital


def test_an_auditor_with_some_tables_sees_the_lines_about_these(two_tables):
    shown = html.unescape(two_tables.visitor("audrey").get(POLICY).text)
    assert "[tables.visits.columns]" in shown
    assert "5000" in shown
    for hidden in ("wages", "payroll", "salaries", "[units", "3.25"):
        assert hidden not in shown


def test_an_owner_with_some_tables_cannot_read_the_rest_by_a_draft(two_tables):
    olga = two_tables.visitor("olga")
    assert "wages" not in olga.get(POLICY).text
    compared = olga.submit(POLICY, draft="", act="check")
    assert compared.status_code == 404
    assert "wages" not in compared.text
