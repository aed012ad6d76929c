"""The room's names load one by one."""

import subprocess
import sys

import pytest

from deniable import mechanisms


def test_every_name_is_there():
    listed = [name for names in mechanisms._FILES.values() for name in names]
    assert sorted(listed) == sorted(mechanisms.__all__)
    for name in mechanisms.__all__:
        assert getattr(mechanisms, name).__name__ == name


def test_a_mistyped_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Laplase'"):
        mechanisms.Laplase  # noqa: B018


def test_one_mechanism_does_not_load_the_others():
    program = (
        "import sys, deniable; deniable.Laplace; "
        "print([m for m in ('oue', 'gaussian', 'quantiles') "
        "if f'deniable.mechanisms.{m}' in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"
