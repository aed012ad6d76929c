"""What `deniable sql` loads, counted in modules: seconds depend on the machine."""

import gc
import subprocess
import sys

import pytest

from deniable.app.cli import main

POLICY = """
[budget]
epsilon = 10

[tables.visits]
source = "visits.csv"

[tables.visits.columns.ward]
keys = ["A", "B"]
"""
ANSWER = """
import sys
from deniable.app.cli import main
try:
    main(["sql", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--epsilon", "1"])
except SystemExit as left:
    assert not left.code
print("loaded", *sys.modules)
"""
UNNEEDED = {
    "deniable.app.server",
    "deniable.app.web",
    "deniable.audit",
    "deniable.figures",
    "deniable.learn",
    "deniable.surveys",
    "deniable.synth",
    "fastapi",
    "httpx",
    "ibis",
    "matplotlib",
    "narwhals",
    "pandas",
    "polars",
    "psycopg",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rich",
    "scipy",
    "sqlalchemy.dialects.postgresql",
    "starlette",
}


def run(code, folder):
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    word, *loaded = done.stdout.splitlines()[-1].split()
    assert word == "loaded"
    return loaded


def test_a_question_loads_only_what_it_needs(tmp_path):
    (tmp_path / "visits.csv").write_text("ward\n" + "A\nB\n" * 50)
    (tmp_path / "deniable.toml").write_text(POLICY)
    loaded = run(ANSWER, tmp_path)
    assert "sqlalchemy" in loaded
    assert not UNNEEDED & set(loaded)
    assert len(loaded) < 1100


def test_arrow_still_makes_frames_afterwards(tmp_path):
    code = """
import sys
from deniable.app.cli.quick_start import keep_pandas_out_of_arrow
keep_pandas_out_of_arrow()
import pyarrow as pa
table = pa.table({"n": [1, 2]})
assert "pandas" not in sys.modules
frame = table.to_pandas()
assert pa.array(frame["n"] / frame["n"].where(frame["n"] > 1)).null_count == 1
print("loaded", "pandas" in sys.modules)
"""
    assert run(code, tmp_path) == ["True"]


def test_no_garbage_is_collected_in_a_command_of_its_own(tmp_path):
    code = """
import gc, sys
collected = []
gc.callbacks.append(lambda phase, found: collected.append(phase))
from deniable.app.cli import main
sys.argv[1:] = ["version"]
before = len(collected)
try:
    main()
except SystemExit:
    print("loaded", len(collected) - before, gc.get_threshold()[0])
"""
    collections, allocations = run(code, tmp_path)
    assert collections == "0"
    assert int(allocations) > 200_000


def test_collection_is_left_as_it_is_for_a_caller():
    before = gc.get_threshold()
    with pytest.raises(SystemExit):
        main(["version"])
    assert gc.get_threshold() == before
