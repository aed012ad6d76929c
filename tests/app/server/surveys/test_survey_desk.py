import pytest

from deniable.app.server.surveys.survey_desk import (
    SurveyDesk,
    UnknownSurvey,
    check_questionnaire,
)
from deniable.errors import InvalidParameter
from tests.app.server.surveys.test_survey_console import SURVEY


@pytest.fixture
def desk(tmp_path):
    desk = SurveyDesk(tmp_path / "surveys")
    yield desk
    desk.close()


def test_a_survey_goes_from_draft_to_open_to_closed(desk):
    name = desk.draft(SURVEY.format(name="one"))
    assert (desk.names(), desk.state(name)) == (["one"], "draft")
    with pytest.raises(UnknownSurvey):
        desk.collection(name)
    desk.begin(name, "open")
    assert desk.state(name) == "open"
    desk.end(name)
    assert desk.state(name) == "closed"
    again = SurveyDesk(desk._folder)  # another process sees the same
    assert again.state(name) == "closed"
    again.close()


def test_a_draft_is_kept_once_under_its_id(desk):
    desk.draft(SURVEY.format(name="one"))
    with pytest.raises(InvalidParameter, match="already"):
        desk.draft(SURVEY.format(name="one"))


def test_no_name_leads_out_of_the_folder(desk, tmp_path):
    (tmp_path / "secret.toml").write_text("a policy")
    with pytest.raises(UnknownSurvey):
        desk.text("../secret")


def test_invitations_need_the_address_of_the_server(desk):
    name = desk.draft(SURVEY.format(name="one"))
    with pytest.raises(InvalidParameter, match="--origin"):
        desk.begin(name, "pass")
    assert desk.state(name) == "draft"


def test_what_is_wrong_with_a_draft_is_told():
    assert check_questionnaire("id = 3").problem
    fine = check_questionnaire(SURVEY.format(name="one"))
    assert fine.manifest is not None
    assert fine.manifest.rehearsal
