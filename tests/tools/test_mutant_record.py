from dataclasses import replace

import pytest

from tools.mutant_record import Record
from tools.mutants import Mutant

MUTANT = Mutant("sums", "one", "adding.py::add", "a => b", "tests/test_adding.py::test_sums")


@pytest.fixture
def project(tmp_path):
    (tmp_path / "src" / "deniable").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "deniable" / "adding.py").write_text("a\n")
    (tmp_path / "tests" / "test_adding.py").write_text("b\n")
    return tmp_path


def has_caught(project, mutant=MUTANT):
    return Record(project, [mutant]).has_caught(mutant)


def test_what_was_caught_is_remembered_until_it_is_not_caught(project):
    assert not has_caught(project)
    Record(project, [MUTANT]).add(MUTANT, "caught", 1.5)
    assert has_caught(project)
    Record(project, [MUTANT]).add(MUTANT, "SURVIVED", 1.5)
    assert not has_caught(project)


@pytest.mark.parametrize("file", ["src/deniable/adding.py", "tests/test_adding.py"])
def test_another_source_or_test_is_another_mutant(project, file):
    Record(project, [MUTANT]).add(MUTANT, "caught", 1.5)
    (project / file).write_text("c\n")
    assert not has_caught(project)


@pytest.mark.parametrize("field", ["change", "test", "function"])
def test_another_entry_is_another_mutant(project, field):
    Record(project, [MUTANT]).add(MUTANT, "caught", 1.5)
    assert not has_caught(project, replace(MUTANT, **{field: getattr(MUTANT, field) + "x"}))


def test_what_is_edited_during_a_run_counts_as_it_was(project):
    record = Record(project, [MUTANT])
    (project / "src/deniable/adding.py").write_text("edited\n")
    record.add(MUTANT, "caught", 1.5)
    assert not has_caught(project)
    (project / "src/deniable/adding.py").write_text("a\n")
    assert has_caught(project)
