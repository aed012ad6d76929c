"""`deniable audit`, on files as a user would write them."""

import pytest
from typer.testing import CliRunner

from deniable.app.cli import app

MECHANISMS = """
import numpy as np
from deniable import Laplace

def right(data):
    return Laplace(epsilon=1).release(data)

def naive(data):
    return data + np.random.default_rng().laplace()

right.many = lambda data, n: Laplace(epsilon=1).release(np.full(n, data))
naive.many = lambda data, n: data + np.random.default_rng().laplace(size=n)
"""


@pytest.fixture
def audit(tmp_path):
    file = tmp_path / "noise.py"
    file.write_text(MECHANISMS, encoding="utf-8")

    def run(function, *words):
        result = CliRunner().invoke(app, ["audit", f"{file}:{function}", *words])
        return result.exit_code, result.output

    return run


def test_a_naive_mechanism_is_told_on(audit):
    status, text = audit("naive", "--calls", "20000")
    assert status == 1
    assert text.startswith("violates PureLoss(1): ")


def test_a_right_one_is_not_called_private(audit):
    status, text = audit("right", "--calls", "20000", "--error", "1e-9")
    assert status == 0
    assert text.startswith("no violation of PureLoss(1) found: epsilon is at least")


def test_inputs_delta_and_time(audit):
    status, text = audit("right", "--neighbors", "0,2", "--delta", "1e-3", "--seconds", "60")
    assert status == 1
    assert "ApproximateLoss(1, delta=0.001)" in text
