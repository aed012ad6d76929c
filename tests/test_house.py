"""The guards of the house, and proof that each of them can fail."""

import os
import tomllib
from pathlib import Path

import pytest

from tools import guards
from tools.import_rules import Room, violations

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "deniable"
SOURCES = {
    path.relative_to(HOUSE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(HOUSE.rglob("*.py"))
}
SCRIPTS = {path.relative_to(HOUSE).as_posix() for path in HOUSE.rglob("*.js")}
BESIDE = {
    path.relative_to(ROOT).as_posix()
    for folder in ("tools", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
}
TESTS = sorted(
    path.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")
)
ROOMS = [
    Room.parse(line)
    for line in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"][0]["rooms"]
]


PHRASES = tomllib.loads((ROOT / "tools" / "phrases.toml").read_text(encoding="utf-8"))
TEXTS = {".py", ".md", ".toml", ".ipynb", ".js", ".html", ""}
NOT_OURS = {"LICENSE", "tools/phrases.toml"}


CODE = ("src", "tests", "tools", "benchmarks")


def texts():
    """Every text file that git tracks, or would: a folder of git's own is not always there."""
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [name for name in inner if not name.startswith(".") and name != "build"]
        for path in (Path(folder) / file for file in files if not file.startswith(".")):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in TEXTS and name not in NOT_OURS:
                yield name, path.read_text(encoding="utf-8")


def test_texts_are_plain_english():
    assert [
        fault for name, text in texts() for fault in guards.phrases(name, text, PHRASES)
    ] == []


def test_a_riddle_is_seen_also_across_lines():
    riddle = "a = 1\n# Which rows there are hangs\n#   on the table."
    assert guards.phrases("a.py", riddle, PHRASES) == [
        "a.py:2 says 'hangs\\n#   on'; write: depends on."
    ]
    assert guards.phrases("a.py", "x is None", PHRASES) == []


def test_every_phrase_is_looked_for():
    """One pattern of all of them, which begins at the beginning of a word, is tried first."""
    assert [phrase for phrase in PHRASES if not phrase.startswith((r"\b", "(?<!"))] == []
    text = "It is so much that these are the sums."
    riddle = text.replace("much", "many").replace("the sums", "no sums")
    told = guards.phrases("a.py", riddle, PHRASES)
    assert guards.phrases("a.py", text, PHRASES) == []
    assert len(told) == 2


def test_the_house_is_not_empty():
    assert {"errors.py", "exact/__init__.py"} <= SOURCES.keys()
    assert "test_house.py" in TESTS


@pytest.mark.parametrize("guard", [guards.randomness, guards.drivers, guards.length])
def test_sources_keep_the_rules(guard):
    assert [fault for path, source in SOURCES.items() for fault in guard(path, source)] == []


def test_variables_say_what_they_are():
    files = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    assert [
        fault
        for path in sorted(files)
        for fault in guards.variables(
            path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        )
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "found = search()",
        "for one in rows: pass",
        "[made for made in plans]",
        "def ask(asked): pass",
        "(lambda one: one.name)",
        "self.found = 1",
        "def _one(rows): pass",
        "match rows:\n    case [found, *rest]: pass",
        "with open(name) as found: pass",
    ],
)
def test_a_variable_that_could_be_anything_is_seen(source):
    assert len(guards.variables("src/deniable/query/a.py", source)) == 1


def test_one_may_be_the_number():
    assert guards.variables("src/deniable/mechanisms/a.py", "one = 1 << bits") == []
    assert guards.variables("src/deniable/mechanisms/a.py", "made = 1 << bits") != []
    assert (
        guards.variables("src/deniable/query/a.py", "the_one, onetime = finding(found=1)") == []
    )


def test_modules_say_what_they_hold():
    assert [fault for path in [*SOURCES, *BESIDE] for fault in guards.naming(path)] == []


def test_tests_mirror_sources():
    sources = frozenset({*SOURCES, *SCRIPTS, *BESIDE})
    assert [fault for path in TESTS for fault in guards.mirror(path, sources)] == []


def test_every_room_holds_something():
    folders = {path.name for path in HOUSE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders == {
        name for path in SOURCES if (name := path.rpartition("/")[0].split("/")[0])
    }


def test_every_room_has_its_line():
    modules = {
        path.removesuffix(".py").removesuffix("__init__").strip("/").replace("/", ".")
        for path in SOURCES
    }
    assert violations(ROOMS, modules - {""}, set()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import random as dice",
        "from random import gauss",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.default_rng()",
        "import numpy\nnumpy.random.laplace()",
        "def draw():\n    import random",
        "import importlib\nimportlib.import_module('random')",
        "from scipy import stats\nstats.norm.rvs(size=3)",
    ],
)
@pytest.mark.parametrize("room", ["exact", "mechanisms", "release", "surveys"])
def test_random_is_banned_where_noise_is_made(room, source):
    assert guards.randomness(f"{room}/dice.py", source)


@pytest.mark.parametrize(
    "source",
    [
        "import secrets",
        "from deniable.exact.bits import random_words",
        "import numpy as np\nnp.sum(random)",
        "self.random = 1",
    ],
)
def test_innocent_sources_pass(source):
    assert guards.randomness("exact/dice.py", source) == []
    assert guards.drivers("exact/dice.py", source) == []


def test_random_is_free_elsewhere():
    assert guards.randomness("audit/attack.py", "import random") == []


@pytest.mark.parametrize(
    "source",
    ["import typer", "from rich.table import Table", "def f():\n    import matplotlib.pyplot"],
)
def test_a_driver_outside_its_home_is_seen(source):
    assert guards.drivers("privacy/losses/pure.py", source)


@pytest.mark.parametrize(
    "source",
    [
        "from deniable.exact.derived_bits import DerivedBits",
        "from deniable.exact import derived_bits",
        "import deniable.exact.derived_bits as bits",
        "import_module('deniable.exact.derived_bits')",
    ],
)
def test_bits_that_anybody_can_compute_stay_away_from_releases(source):
    home = "release/asking/released_part.py"
    assert guards.drivers(home, source) == []
    for path in ("mechanisms/noise/gaussian.py", "release/answer/answering.py"):
        assert guards.drivers(path, source)


def test_a_driver_at_home_is_welcome():
    assert guards.drivers("figures/curves.py", "import matplotlib.pyplot") == []


def test_a_long_file_is_seen():
    assert guards.length("exact/long.py", "x = 1\n" * guards.LONGEST)
    assert guards.length("exact/long.py", "x = 1\n" * (guards.LONGEST - 1)) == []


@pytest.mark.parametrize(
    "path", ["utils.py", "exact/_helpers.py", "core/bits.py", "query/base.py"]
)
def test_an_unlabelled_drawer_is_seen(path):
    assert guards.naming(path)


@pytest.mark.parametrize(
    ("test", "fits"),
    [
        ("exact/test_laplace.py", True),
        ("exact/test_laplace_tails.py", True),
        ("test_exact.py", True),
        ("exact/test_init.py", True),
        ("test_laplace.py", False),
        ("exact/test_gaussian.py", False),
        ("exact/test_laplacetails.py", False),
    ],
)
def test_a_stray_test_is_seen(test, fits):
    sources = {"exact/laplace.py", "exact/__init__.py", "errors.py"}
    assert (guards.mirror(test, sources) == []) is fits


HOUSE_OF_THREE = [Room("errors", ()), Room("exact", ()), Room("app", ("*",))]


@pytest.mark.parametrize(
    ("rooms", "modules", "imports"),
    [
        pytest.param(HOUSE_OF_THREE, {"attic"}, set(), id="a room without a line"),
        pytest.param(
            [*HOUSE_OF_THREE, Room("attic", ())], set(), set(), id="a line without a room"
        ),
        pytest.param(
            [Room("exact", ("app",)), Room("errors", ()), Room("app", ())],
            set(),
            set(),
            id="a line that names a room below",
        ),
        pytest.param(
            HOUSE_OF_THREE, set(), {("exact.bits", "app.cli")}, id="an import downwards"
        ),
        pytest.param(HOUSE_OF_THREE, set(), {("exact.bits", "")}, id="an import of the face"),
        pytest.param(HOUSE_OF_THREE, set(), {("errors", "exact")}, id="errors imports nothing"),
    ],
)
def test_a_broken_import_rule_is_seen(rooms, modules, imports):
    assert violations(rooms, {"errors", "exact", "app"} | modules, imports)


def test_permitted_imports_pass():
    imports = {
        ("exact.bits", "errors"),
        ("app.cli", "exact.bits"),
        ("app.cli", ""),
        ("", "exact"),
    }
    assert violations(HOUSE_OF_THREE, {"errors", "exact", "app"}, imports) == []
