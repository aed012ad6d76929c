"""A copy that may not fit into memory is refused before the charge."""

import pyarrow as pa
import pytest

import deniable as dp
from deniable.errors import InvalidParameter
from deniable.synth.copies import joint_memory
from deniable.synth.copies.joint_memory import bytes_of_row, check_memory, machine_memory

NAMES = [f"c{i}" for i in range(40)]
FRAME = pa.table({name: [True, False] for name in NAMES})
GB = 10**9


def session(**declared):
    return dp.protect(FRAME, name="t", epsilon=1, delta=1e-6, **declared)


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    """A machine with 10 GB."""
    monkeypatch.setattr(joint_memory, "machine_memory", lambda: 10 * GB)


@pytest.mark.parametrize("declared", ["expected_rows", "row_ceiling"])
def test_what_may_not_fit_is_refused_before_the_charge(declared):
    """40 columns take 96 bytes of a row: two times 40 and 8 of a count."""
    with session(**{declared: 21 * 10**6}) as opened:
        with pytest.raises(
            InvalidParameter, match=r"up to 2\.0 GB\. Of 10\.0 GB here, .* 2\.0"
        ):
            opened.copy(epsilon=1)
        assert len(opened.ledger.entries) == 0
        assert str(opened.copy(epsilon=1, columns=NAMES[:9], explain=True))
    with session(**{declared: 20 * 10**6}) as opened:
        text = str(opened.copy(epsilon=1, explain=True))
    assert "up to 1.9 GB of memory, beside the engine's" in text


def test_the_lower_number_of_rows_counts():
    with session(expected_rows=10**9, row_ceiling=10**6) as opened:
        assert "memory" not in str(opened.copy(epsilon=1, explain=True))


def test_what_the_engine_may_not_take_is_free_for_cells():
    with session(expected_rows=80 * 10**6, memory="1 GB") as opened:
        assert "up to 7.7 GB" in str(opened.copy(epsilon=1, explain=True))
    with (
        session(expected_rows=80 * 10**6, memory="64 GB") as opened,
        pytest.raises(InvalidParameter, match=r"leaves 2\.0 GB"),
    ):
        opened.copy(epsilon=1, explain=True)


def test_few_combinations_need_little_whatever_the_rows_are():
    with session(expected_rows=10**12) as opened:
        assert "memory" not in str(opened.copy(epsilon=1, columns=NAMES[:9], explain=True))


def test_without_a_number_of_rows_nothing_is_refused_but_said():
    with session() as opened:
        text = str(opened.copy(epsilon=1, explain=True))
    assert "up to 96 bytes of memory for each row of the table; declare" in text


def test_wide_cells_take_two_bytes():
    assert bytes_of_row([256, 2]) == 2 * (2 + 8)
    assert bytes_of_row([257, 2]) == 2 * (4 + 8)


def test_an_unknown_machine_refuses_nothing(monkeypatch):
    monkeypatch.setattr(joint_memory, "machine_memory", lambda: None)
    with session(expected_rows=10**12) as opened:
        assert check_memory(opened.policy.tables["t"], [3] * 40, None) is None


@pytest.mark.parametrize(
    ("limit", "limited"), [("1000000000", True), ("max", False), ("", False)]
)
def test_a_container_has_less_memory_than_its_machine(tmp_path, monkeypatch, limit, limited):
    file = tmp_path / "memory.max"
    file.write_text(limit)
    monkeypatch.setattr(joint_memory, "_LIMITS", file)
    monkeypatch.setattr(joint_memory.os, "sysconf", lambda name: 10**5)
    assert machine_memory() == (10**9 if limited else 10**10)
