"""A policy and its data in an empty folder, for the commands that read one."""

import pyarrow as pa
import pyarrow.parquet
import pytest

from deniable.app.cli import main

ROWS = 3_000
POLICY = """\
[budget]
epsilon = 3
delta = 1e-6

[tables.visits]
source = "visits.parquet"
unit = "patient"
max_groups_per_unit = 2
max_rows_per_unit_per_group = 3
expected_rows = 3000

[tables.visits.columns]
ward = { keys = ["A", "B", "C"] }
cost = { bounds = [0, 100], step = 0.01 }
diagnosis = { keys = "private" }
"""


@pytest.fixture
def hospital(tmp_path, monkeypatch):
    """The folder, which is also the working one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    people = [f"p{i // 3}" for i in range(ROWS)]
    columns = {
        "patient": people,
        "ward": ["AB"[i % 2] for i in range(ROWS)],
        "cost": [float(i % 101) for i in range(ROWS)],
        "diagnosis": ["CANARY" if i == 0 else "flu" for i in range(ROWS)],
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "visits.parquet")
    (tmp_path / "deniable.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(hospital, capsys):
    """`run("tables")`: (exit status, standard output, standard error)."""

    def command(*words):
        with pytest.raises(SystemExit) as left:
            main(words)
        told = capsys.readouterr()
        return left.value.code, told.out, told.err

    return command
