import pytest

import deniable as dp
from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection, read_base64
from deniable.surveys.questionnaire.questionnaire import loads
from tests.app.server import surveying

HTTPS = "https://survey.example.org"


@pytest.fixture
def begin(tmp_path, monkeypatch):
    settings = "deniable.surveys.collect.store.database.SQLITE_SETTINGS"
    monkeypatch.setattr(settings, ("PRAGMA synchronous = OFF",))

    def start(text=surveying.TEXT, **choices):
        opened = SurveyCollection(loads(text), tmp_path / "f", CollectionChoices(**choices))
        opened.close()
        return opened

    return start


def test_what_people_were_promised_cannot_change(begin):
    first = begin(mode="pass", origin=HTTPS)
    assert begin().manifest.hash == first.manifest.hash
    assert begin(mode="pass", origin=HTTPS).manifest.hash == first.manifest.hash
    changes = [
        {"text": surveying.TEXT.replace("Question 3?", "Something else?")},
        {"text": surveying.TEXT.replace("epsilon = 16", "epsilon = 15")},
        {"mode": "open"},
        {"origin": "https://elsewhere.example.org"},
        {"rehearsal": True},
    ]
    for change in changes:
        with pytest.raises(dp.InvalidParameter, match="begun with another"):
            begin(**change)


def test_a_version_with_other_sentences_goes_on(begin, tmp_path, monkeypatch):
    first = begin(mode="open")
    sentence = "deniable.surveys.questionnaire.manifest_question.what_an_answer_proves"
    monkeypatch.setattr(sentence, lambda *_, **__: "Another sentence.")
    assert begin().manifest.canonical() == first.manifest.canonical()
    with pytest.raises(dp.InvalidParameter, match="begun with another"):
        begin(text=surveying.TEXT.replace("Question 3?", "Something else?"))


def test_a_survey_is_closed_by_its_manifest_alone(begin, tmp_path):
    first = begin(mode="pass")
    opened = SurveyCollection(None, tmp_path / "f")
    opened.store.close_survey()
    assert opened.manifest == first.manifest
    assert opened.totals().reports == 0
    opened.close()


def test_a_manifest_that_is_refused_begins_nothing(tmp_path):
    def refuse(manifest):
        raise dp.InvalidParameter(manifest.survey)

    with pytest.raises(dp.InvalidParameter, match=r"^s$"):
        SurveyCollection(loads(surveying.TEXT), tmp_path / "f", check=refuse)
    assert not (tmp_path / "f" / "manifest.json").exists()


def test_the_secret_of_the_results_is_written_once(begin, tmp_path, monkeypatch):
    known = begin().results_secret
    again = SurveyCollection(None, tmp_path / "f")
    monkeypatch.delattr("deniable.surveys.collect.collection.write_once")
    assert again.results_secret == again.results_secret == known
    again.close()


def test_one_key_serves_the_whole_survey(begin, tmp_path):
    first = begin(mode="pass")
    assert begin().manifest.key == first.manifest.key
    (tmp_path / "f" / "pass.key").unlink()
    with pytest.raises(dp.InvalidParameter, match="pass key"):
        begin()


def test_the_folder_is_private(begin, tmp_path):
    collection = begin(mode="pass")
    assert len(collection.results_secret) >= 43
    for path in (tmp_path / "f").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0 or path.name == "CACHEDIR.TAG"
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o700


def test_the_store_is_the_same_with_every_command(begin, tmp_path):
    begin(store=str(tmp_path / "elsewhere.sqlite"))
    with pytest.raises(dp.InvalidParameter, match="same --store"):
        begin()
    begin(store=str(tmp_path / "elsewhere.sqlite"))


def test_the_note_of_the_store_holds_no_password(tmp_path):
    store = "postgresql://u:open-sesame@127.0.0.1:1/d?connect_timeout=2"
    choices = CollectionChoices(store=store)
    with pytest.raises(dp.CollectionUnavailable):
        SurveyCollection(loads(surveying.TEXT), tmp_path / "f", choices)
    assert "127.0.0.1" in (tmp_path / "f" / "store.json").read_text()
    assert "sesame" not in (tmp_path / "f" / "store.json").read_text()


def test_an_open_survey_invites_nobody(begin):
    with pytest.raises(dp.InvalidParameter, match="open link"):
        begin(mode="open").invite(3)


def test_tokens_differ_and_are_not_kept(begin, tmp_path):
    collection = begin(mode="token")
    tokens = collection.invite(50)
    assert len(set(tokens)) == 50
    data = (tmp_path / "f" / "store.sqlite").read_bytes()
    assert not any(bytes.fromhex(token) in data or token.encode() in data for token in tokens)


@pytest.mark.parametrize("text", ["a", "ab=", "a b", "ab+/", "\u00e9", None, 7])
def test_only_base64_for_urls_is_read(text):
    with pytest.raises(dp.InvalidData, match="base64"):
        read_base64(text)
