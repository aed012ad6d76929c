import pytest
from typer.testing import CliRunner

from deniable.app.cli import app, main


@pytest.mark.parametrize("name", ["BudgetExhausted", "dp.BudgetExhausted", "budget-exhausted"])
def test_an_error_is_explained(name):
    told = CliRunner().invoke(app, ["errors", name]).output
    assert told.startswith("BudgetExhausted: The answer costs more than is left")
    assert "\nCause: " in told
    assert "\nRemedy: " in told


def test_all_errors_are_listed():
    told = CliRunner().invoke(app, ["errors"]).output
    assert len(told.splitlines()) > 25


def test_a_misspelt_error_gets_a_suggestion(capsys):
    with pytest.raises(SystemExit):
        main(["errors", "BudgetExausted"])
    assert "Did you mean `BudgetExhausted`?" in capsys.readouterr().err


def test_an_empty_budget_names_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    (tmp_path / "deniable.toml").write_text(
        "budget.epsilon = 1\n[tables.t]\nsource = 't.csv'\n"
    )
    with pytest.raises(SystemExit) as ended:
        main(["sql", "SELECT COUNT(*) AS n FROM t", "--epsilon", "2"])
    assert ended.value.code == 3
    assert capsys.readouterr().err.endswith("See deniable errors BudgetExhausted\n")
