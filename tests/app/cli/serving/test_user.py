import sqlite3

import pytest

from deniable.app.cli import main

PASSWORD = "correct horse battery"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as end:
            main(words)
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


def test_people_are_added_listed_and_disabled(run):
    assert run("who")[1].startswith("Nobody yet.")
    assert run("user", "add", "Ann", "--role", "analyst") == (0, "Added Ann, analyst.\n", "")
    assert run("user", "add", "bob", "--role", "operator")[0] == 0
    status, out, _ = run(
        *("user", "link", "ann", "--issuer", "https://login.example", "--subject", "17")
    )
    assert (status, out) == (0, "Linked.\n")
    assert run("token", "new", "ann", "--policy", "hospital", "--read-only")[0] == 0
    lines = run("who")[1].splitlines()
    assert lines[0] == "Ann  analyst  17 at https://login.example"
    assert lines[1].startswith("  token ")
    assert "hospital; read-only  until 20" in lines[1]
    assert lines[2] == "bob  operator  tokens only"
    token_id = lines[1].split()[1]
    assert run("token", "revoke", token_id)[1] == "Revoked.\n"
    assert run("user", "disable", "ANN")[1] == "Disabled.\n"
    assert run("who")[1].splitlines()[0] == "Ann  analyst  disabled"
    status, _, err = run("user", "add", "ann", "--role", "owner")
    assert (status, "known already" in err) == (2, True)


def test_tables_are_granted_to_people(run):
    assert run("user", "add", "ann", "--role", "analyst", "--policy", "hospital")[0] == 0
    assert run("who")[1] == "ann  analyst  tokens only  hospital\n"
    assert (
        run("user", "grant", "ann", "--table", "visits", "--table", "beds")[1] == "Granted.\n"
    )
    assert run("who")[1] == "ann  analyst  tokens only  visits, beds\n"


def test_a_password_comes_from_a_file_and_is_stored_as_a_hash(run, tmp_path):
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    status, out, _ = run(
        *("user", "add", "ann", "--role", "owner", "--password-file", "password", "--codes")
    )
    assert status == 0
    uri = out.splitlines()[-1]
    assert uri.startswith("otpauth://totp/Deniable:ann?")
    assert run("who")[1] == "ann  owner  password, codes\n"
    connection = sqlite3.connect(tmp_path / "deniable.server.sqlite")
    stored = "\n".join(connection.iterdump())
    connection.close()
    assert "$argon2id$v=19$m=65536" in stored
    assert PASSWORD not in stored
    (tmp_path / "password").write_text("another horse battery")
    assert run("user", "password", "ann", "--password-file", "password")[1] == "Changed.\n"
    assert run("who")[1] == "ann  owner  password\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--role", "root"), "`role` must be one of"),
        (("--role", "analyst", "--codes"), "--codes need a password"),
        (("--role", "analyst", "--password-file", "missing"), "cannot be read"),
        (("--role", "analyst", "--password", "--password-file", "x"), "Give one of"),
        (("--rolle", "analyst"), "--role"),
    ],
)
def test_what_cannot_be_is_said(run, words, said):
    status, _, err = run("user", "add", "ann", *words)
    assert status == 2
    assert said in err
    assert run("who")[1].startswith("Nobody yet.")


def test_a_short_password_is_refused(run, tmp_path):
    (tmp_path / "password").write_text("short")
    status, _, err = run("user", "add", "ann", "--role", "owner", "--password-file", "password")
    assert (status, "12 to 256 characters" in err, "short" in err) == (2, True, False)
