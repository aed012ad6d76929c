"""Which manifest a command takes."""

import pytest

from deniable.app.cli.surveys.chosen_manifest import find_manifest
from deniable.app.cli.surveys.opened_survey import folder_of
from deniable.errors import InvalidParameter
from tests.surveys.collected import ONE_QUESTION, manifest_of


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(ONE_QUESTION)
    return path


def test_the_given_one_then_the_begun_one_then_a_new_one(file, tmp_path):
    assert find_manifest(file, None) == manifest_of(ONE_QUESTION)
    assert find_manifest(file, None, rehearsal=True).rehearsal
    begun = manifest_of(ONE_QUESTION, mode="token")
    folder = folder_of(file, rehearsal=False)
    folder.mkdir()
    (folder / "manifest.json").write_bytes(begun.canonical())
    assert find_manifest(file, None) == begun
    given = manifest_of(ONE_QUESTION, origin="https://survey.example.org")
    (tmp_path / "given.json").write_bytes(given.canonical())
    assert find_manifest(file, tmp_path / "given.json") == given
    with pytest.raises(InvalidParameter, match="no manifest of a rehearsal"):
        find_manifest(file, tmp_path / "given.json", rehearsal=True)


def test_another_surveys_manifest_is_refused(file, tmp_path):
    other = manifest_of(ONE_QUESTION.replace('id = "one"', 'id = "two"'))
    (tmp_path / "other.json").write_bytes(other.canonical())
    with pytest.raises(InvalidParameter, match="of two, not of one"):
        find_manifest(file, tmp_path / "other.json")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        find_manifest(file, tmp_path / "none.json")


def test_blind_passes_need_the_manifest_with_the_key(file):
    file.write_text(f'mode = "pass"\n{ONE_QUESTION}')
    with pytest.raises(InvalidParameter, match="has its key in the manifest"):
        find_manifest(file, None)
