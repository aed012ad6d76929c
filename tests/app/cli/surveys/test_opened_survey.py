from pathlib import Path

from deniable.app.cli.surveys.opened_survey import folder_of


def test_a_rehearsal_has_its_own_folder():
    assert folder_of(Path("a/doping.toml"), rehearsal=False) == Path("a/doping.collected")
    assert folder_of(Path("a/doping.toml"), rehearsal=True) == Path("a/doping.rehearsal")
