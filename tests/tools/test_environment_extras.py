"""Each `make` target starts with the packages of its own extra, and no others."""

import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.environment import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RULE = re.compile(r"^([a-z%-]+): \.venv/installed-(\w+).*\n\t@?\$\(BIN\)/(.*)$", re.MULTILINE)

# The import system as it would be if the packages in sys.argv[2:] were not installed.
START = """
import importlib, runpy, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{name} belongs to another extra", name=name)

entry, *blocked = sys.argv[1:]
sys.meta_path.insert(0, Blocked())
sys.path.insert(0, ".")
if entry.endswith(".py"):
    runpy.run_path(entry, run_name="started")
else:
    importlib.import_module(entry)
"""


def targets():
    """For each target of the Makefile its extra, and the module or file that it starts."""
    for target, extra, command in RULE.findall((ROOT / "Makefile").read_text(encoding="utf-8")):
        script = re.search(r"-m ([\w.]+)|(\S+\.py)|^(?!python)(\w+)", command)
        module, path, program = script.groups()
        if module:
            files = {name: name for name in ("tools.screens", "tools.mutants")}
            own = {"pytest": "conftest"} | files
            entry = own.get(module, f"{module}.__main__")
        else:
            entry = path or PROJECT["scripts"].get(program, program).partition(":")[0]
        yield target, extra, entry


@cache
def installed(extra):
    """The distributions that `pip install 'deniable[extra]'` brings."""
    packages, waiting = set(), [Requirement(f"deniable[{extra}]")]
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if name == PROJECT["name"]:
            lists = [PROJECT["optional-dependencies"][option] for option in needed.extras]
            listed = [*PROJECT["dependencies"], *(line for lines in lists for line in lines)]
        else:
            listed = wanted_by(name)
        for line in listed:
            more = Requirement(line)
            states = [{"extra": option} for option in needed.extras or [""]]
            if not more.marker or any(more.marker.evaluate(state) for state in states):
                key = (canonicalize_name(more.name), *sorted(more.extras))
                if key not in packages:
                    packages.add(key)
                    waiting.append(more)
    return {name for name, *_ in packages}


def wanted_by(name):
    try:
        return requires(name) or []
    except PackageNotFoundError:  # an extra that nobody installed here
        return []


@pytest.mark.parametrize(("target", "extra", "entry"), list(targets()), ids=str)
def test_a_target_starts_with_the_packages_of_its_extra(target, extra, entry):
    allowed = installed(extra) | {PROJECT["name"], "pip", "setuptools"}
    blocked = [
        module
        for module, owners in packages_distributions().items()
        if not allowed & {canonicalize_name(owner) for owner in owners}
    ]
    command = [sys.executable, "-W", "ignore", "-c", START, entry, *blocked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_targets_and_what_they_may_not_use_are_found():
    extras = {target: extra for target, extra, _ in targets()}
    assert extras.items() >= {"bench": "bench", "demo": "demo", "test": "dev"}.items()
    assert "matplotlib" in installed("figures")
    assert "matplotlib" not in installed("spark")
    assert "psycopg" in installed("bench")
