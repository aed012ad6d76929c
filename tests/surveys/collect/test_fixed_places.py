import pytest

import deniable as dp
from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection
from deniable.surveys.collect.fixed_places import fix_sealing_key
from deniable.surveys.questionnaire.questionnaire import loads
from tests.app.server import surveying


def test_the_sealing_key_may_lie_elsewhere(tmp_path):
    """Then a copy of the survey's folder, such as a snapshot, holds no key."""
    folder, key = tmp_path / "f", tmp_path / "elsewhere" / "s.key"
    survey = loads(surveying.TEXT)
    SurveyCollection(survey, folder, CollectionChoices(sealing_key=key)).close()
    assert key.exists()
    assert not (folder / "never-back-up").exists()
    opened = SurveyCollection(None, folder)  # the place is noted
    opened.store.close_survey()
    opened.close()


def test_the_place_of_the_sealing_key_cannot_change(tmp_path):
    assert fix_sealing_key(tmp_path, None) == tmp_path / "never-back-up" / "sealing.key"
    with pytest.raises(dp.InvalidParameter, match="cannot change"):
        fix_sealing_key(tmp_path, tmp_path / "s.key")
