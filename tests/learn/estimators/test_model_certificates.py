"""Certificates of models: all steps of one run, and nothing else passes."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from deniable import learn
from deniable.errors import InvalidCertificate

X = np.array([[0.0], [1.0]] * 100)
Y = X[:, 0].astype(int)


def fitted():
    declared = {"bounds": (0, 1), "classes": [0, 1]}
    return learn.LogisticRegression(epsilon=0.7, delta=1e-6, **declared).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture
def document(model, tmp_path):
    """The file as JSON, and what verifies it after a change."""
    path = tmp_path / "model.json"

    def check(changed, message):
        path.write_text(json.dumps(changed))
        with pytest.raises(InvalidCertificate, match=message):
            learn.verify(path)

    return json.loads(learn.save(model, path).read_text()), check


@pytest.mark.parametrize("known", [True, False])
def test_a_model_and_its_file_are_verified(model, tmp_path, known):
    key = model.certificates_[0].key
    for one in (model, learn.save(model, tmp_path / "model.json")):
        found = learn.verify(one, key=key if known else None)
        assert found.signer_known == known
        assert found.key == key
        assert f"{len(model.certificates_)} steps are certified" in found.checks[0]


def test_another_key_is_refused(model):
    with pytest.raises(InvalidCertificate):
        learn.verify(model, key="0" * 64)


def test_every_step_is_there_once_and_in_order(document):
    written, check = document
    signed = written["certificates"]
    check(written | {"certificates": signed[1:]}, "missing, or in another place")
    check(written | {"certificates": [signed[0], *signed]}, "missing, or in another place")
    check(written | {"certificates": signed[::-1]}, "missing, or in another place")
    check(written | {"certificates": []}, "no certificates")


def test_steps_of_another_run_are_refused(document):
    written, check = document
    other = [one.to_dict() for one in fitted().certificates_]
    check(
        written | {"certificates": [written["certificates"][0], *other[1:]]}, "different runs"
    )


def test_the_file_states_what_was_paid(document):
    written, check = document
    check(written | {"epsilon": "1/2"}, "lower price")
    check(written | {"delta": "1/10000000"}, "lower price")
    check(written | {"neighbors": "replace"}, "another relation")


def test_a_model_that_is_trained_again_has_the_certificates_of_that(model, tmp_path):
    """Those of its file are about another model."""
    read = learn.load(learn.save(model, tmp_path / "model.json"))
    read.set_params(bounds=(0, 1), classes=[0, 1]).fit(X, Y)
    assert read.certificates_ == tuple(one.certificate for one in read.releases_)
    assert read.certificates_[0] != model.certificates_[0]
    again = learn.save(read, tmp_path / "again.json")
    assert learn.verify(again).key == read.certificates_[0].key


def test_a_model_that_is_not_fitted_has_nothing_to_verify():
    with pytest.raises(NotFittedError, match="not fitted"):
        learn.verify(learn.NaiveBayes(epsilon=1))


def test_a_changed_step_is_refused(document):
    written, check = document
    first = json.loads(json.dumps(written["certificates"][0]))
    first["plan"]["stored"] = first["plan"]["stored"].replace("TINYINT", "SMALLINT")
    check(written | {"certificates": [first, *written["certificates"][1:]]}, "plan")
