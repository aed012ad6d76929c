import subprocess
import sys
from pathlib import Path

import pytest

from tools.import_rules import Room

ROOT = Path(__file__).parents[2]
SETTINGS = """
[tool.importlinter]
root_packages = ["house"]
contract_types = ["rooms: tools.import_rules.Rooms"]

[[tool.importlinter.contracts]]
name = "rooms"
type = "rooms"
rooms = [
    "errors:", "exact:", "privacy: exact",
    "query.plan:", "query.margins: exact, query.plan", "query:",
]
"""
HOUSE = {
    "__init__.py": "from house.privacy import losses",
    "errors.py": "",
    "exact.py": "import house.errors",
    "privacy/__init__.py": "",
    "privacy/losses.py": "from house import errors, exact",
    "query/__init__.py": "",
    "query/plan/__init__.py": "",
    "query/plan/nodes.py": "",
    "query/margins/__init__.py": "",
    "query/margins/sums.py": "import house.exact",
}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({}, None),
        ({"exact.py": "from house.privacy import losses"}, "exact imports privacy.losses"),
        ({"errors.py": "def f():\n    import house.exact"}, "errors imports exact"),
        (
            {"exact.py": "f = __import__('house.privacy.losses')"},
            "exact imports privacy.losses",
        ),
        ({"exact.py": "import house"}, "exact imports the public face"),
        ({"attic.py": ""}, "attic has no line in the table"),
        ({"query/margins/sums.py": "import house.query.plan.nodes"}, None),
        (
            {"query/plan/nodes.py": "import house.query.margins.sums"},
            "query.plan.nodes imports query.margins.sums",
        ),
        ({"query/attic/__init__.py": "", "query/attic/box.py": ""}, "query.attic has no line"),
        ({"query/face.py": "import house.query.margins.sums"}, None),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value),
)
def test_import_linter_keeps_the_rule(tmp_path, monkeypatch, change, fault):
    for path, source in (HOUSE | change).items():
        file = tmp_path / "house" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is (fault is None), done.stdout
    assert (fault or "1 kept") in done.stdout


def test_a_line_without_a_colon_is_refused():
    with pytest.raises(ValueError, match="Found 'exact'"):
        Room.parse("exact")
