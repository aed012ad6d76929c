"""`deniable check`, for one mechanism and for all."""

from typer.testing import CliRunner

from deniable.app.cli import app


def told(*words):
    result = CliRunner().invoke(app, ["check", *words], env={"COLUMNS": "200"})
    return result.exit_code, result.output


def test_one_mechanism():
    status, text = told("Laplace", "epsilon=0.1")
    assert status == 0
    assert "private: no output exceeds the claim" in text


def test_a_claim_that_does_not_hold():
    status, text = told("Laplace", "epsilon=1", "--claim", "0.9")
    assert status == 1
    assert "violated: output 0, inputs 0 and 1" in text


def test_more_inputs():
    assert told("Laplace", "epsilon=1", "--inputs", "0,2")[0] == 1
    assert told("Laplace", "epsilon=1", "sensitivity=2", "--inputs", "0,2")[0] == 0
    assert told("RandomizedResponse", "odds=3", "categories=3", "--inputs", "0,1,2")[0] == 0


def test_everything():
    status, text = told()
    assert status == 0
    assert text.count("violated:") == text.count("private: no ") >= 8


def test_unknown_names_and_parameters():
    for words in (["Laplacian"], ["PureLoss"], ["Laplace", "width=1"], ["Laplace", "epsilon"]):
        result = CliRunner().invoke(app, ["check", *words])
        assert result.exit_code != 0
        assert result.exception is not None
        assert "Traceback" not in result.output
