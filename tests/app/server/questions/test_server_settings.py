"""What a server is told, and what is loaded to read it."""

import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dp
from deniable.app.server.questions.server_settings import ServerSettings


def test_providers_need_an_origin(tmp_path):
    with pytest.raises(dp.InvalidParameter, match="needs `--origin`"):
        ServerSettings((tmp_path / "p.toml",), providers=tmp_path / "q.toml").check()


def test_two_policies_cannot_share_an_address(tmp_path):
    files = tmp_path / "ward.toml", tmp_path / "other" / "Ward.toml"
    with pytest.raises(dp.InvalidParameter, match=r"/v1/ward\. Rename"):
        ServerSettings(files).check()


@pytest.mark.parametrize("name", ["surveys", "preview", "login", "logout"])
def test_a_policy_cannot_take_the_address_of_a_page(name):
    with pytest.raises(dp.InvalidParameter, match=f"cannot be called '{name}'"):
        ServerSettings((Path(f"{name}.toml"),)).check()


def test_who_starts_workers_loads_little():
    """Each worker loads all of it; before them, that would be waited for once more."""
    code = (
        "import sys, deniable.app.server.workers; "
        "heavy = 'duckdb sqlglot sqlalchemy jinja2 deniable.release deniable.kernel'.split(); "
        "print([name for name in heavy if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.stdout.strip() == "[]", told.stderr
