import pytest

from deniable.app.server.accounts.people import ROLES
from deniable.app.server.accounts.role_matrix import MATRIX, is_free, reach, read_matrix


def test_default_is_deny():
    for role in (*ROLES, None, "", "root"):
        assert reach("GET", "/no/such/route", role) is None
        assert reach("DELETE", "/v1/{policy}/tables", role) is None


def test_an_operator_sees_no_data_and_nobody_sees_everything_of_others():
    data = {pair: row for pair, row in MATRIX.items() if pair[1].startswith("/v1/")}
    assert len(data) >= 9
    assert all({"operator", "pollster"}.isdisjoint(row) for row in data.values())
    assert all(row.keys() <= {*ROLES} for row in data.values())  # nothing for anyone


def test_only_an_owner_or_analyst_can_spend():
    for (method, path), row in MATRIX.items():
        if not is_free(method, path):
            who = "pollster" if path.startswith("/console/surveys") else "analyst"
            assert row.keys() <= {"owner", who}, path


def test_an_analyst_reaches_only_what_is_hers_among_answers_budgets_and_entries():
    for path in ("releases/{name}", "releases/{name}/{form}", "budget", "ledger/entries"):
        assert MATRIX["GET", f"/v1/{{policy}}/{path}"]["analyst"] == "own"


@pytest.mark.parametrize(
    "row",
    [
        "GET /a any any any any",
        "GET /a any any any any any any",
        "GET /a any any any any yes",
        "GET /a - - - - -\nGET /a any - - - -",
    ],
)
def test_a_row_that_cannot_be_read_is_an_error(row):
    with pytest.raises((AssertionError, ValueError)):
        read_matrix(f"{' '.join(ROLES)}\n{row}\n")
    with pytest.raises(AssertionError, match="columns"):
        read_matrix("owner analyst\n")
