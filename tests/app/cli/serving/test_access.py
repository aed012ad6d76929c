import pytest

from deniable.app.cli import main
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.server_database import ServerDatabase


def run(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(words)
    out, err = capsys.readouterr()
    return end.value.code, out, err


def test_a_token_is_made_and_revoked(capsys, tmp_path):
    file = str(tmp_path / "s.sqlite")
    assert run(capsys, "token", "new", "ann", "--database", file)[0] == 2  # nobody yet
    assert run(capsys, "user", "add", "ann", "--role", "analyst", "--database", file)[0] == 0
    outcome = run(capsys, "token", "new", "ann", "--table", "visits", "--database", file)
    assert outcome[0] == 0
    people = Identities(ServerDatabase(tmp_path / "s.sqlite"))
    person = people.authenticate(f"Bearer {outcome[1].strip()}")
    assert (person.name, person.role, person.tables) == ("ann", "analyst", ("visits",))
    status, out, _ = run(capsys, "token", "revoke", outcome[1].strip(), "--database", file)
    assert (status, out) == (0, "Revoked.\n")
    assert people.authenticate(f"Bearer {outcome[1].strip()}") is None
    status, _, err = run(capsys, "token", "revoke", "dnb_0", "--database", file)
    assert status == 2
    assert "unknown" in err
    assert "dnb_0" not in err


def test_a_misspelt_option_is_said(capsys):
    status, _, err = run(capsys, "token", "new", "ann", "--tabel", "x")
    assert status == 2
    assert "--table" in err
