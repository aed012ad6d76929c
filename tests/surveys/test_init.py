"""Every public name of `surveys` is a function or a class, whatever is imported first."""

import subprocess
import sys

import pytest

MODULES = """
import deniable.surveys.questionnaire.lint, deniable.surveys.estimate.crosstab
import deniable.surveys.collect.simulation, deniable.surveys.honesty.carelessness
"""
CODE = """
import deniable as dp
first = [getattr(dp.surveys, name) for name in dp.surveys.__all__]
import deniable.surveys.estimate.weights, deniable.surveys.questionnaire.questionnaire
assert first == [getattr(dp.surveys, name) for name in dp.surveys.__all__]
print([value.__name__ for value in first] == dp.surveys.__all__, all(map(callable, first)))
"""


@pytest.mark.parametrize("code", [MODULES + CODE, CODE + MODULES], ids=["before", "after"])
def test_public_names_are_no_modules_in_a_fresh_interpreter(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert run.stdout.decode().split() == ["True", "True"], run.stderr.decode()
