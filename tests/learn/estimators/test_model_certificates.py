"""Certificates of models: all steps of one run, and nothing else passes."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from deniable import learn
from deniable.errors import InvalidCertificate, InvalidData
from deniable.learn.estimators.model_files import to_document
from deniable.ledger import MemoryLedger

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
    for form in (model, learn.save(model, tmp_path / "model.json")):
        verdict = learn.verify(form, key=key if known else None)
        assert verdict.signer_known == known
        assert verdict.key == key
        assert f"{len(model.certificates_)} steps are certified" in verdict.checks[0]


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
    other = [certificate.to_dict() for certificate in fitted().certificates_]
    check(
        written | {"certificates": [written["certificates"][0], *other[1:]]}, "different runs"
    )


def test_the_file_states_what_was_paid(document):
    written, check = document
    check(written | {"epsilon": "1/2"}, "lower price")
    check(written | {"delta": "1/10000000"}, "lower price")
    check(written | {"neighbors": "replace"}, "another relation")


def at(document, path):
    """The list or dictionary that holds the last place of a path."""
    for key in path[:-1]:
        document = document[key]
    return document


EDITS = {
    "a score": (("model", "features", 0, "table", 1, 0), lambda score: score + 2**-40),
    "the intercept": (("model", "intercept", 0), lambda start: -start),
    "a cut": (("model", "features", 0, "cuts", 0), lambda cut: cut / 2),
    "a bound": (("model", "features", 0, "bounds", 1), lambda high: 2 * high),
    "a name": (("model", "features", 0, "name"), lambda name: name + "2"),
    "the classes": (("model", "classes"), lambda classes: classes[::-1]),
    "the price": (("epsilon",), lambda epsilon: "3/4"),
    "the kind": (("estimator",), lambda kind: "AdditiveModel"),
    "the seal": (("seal",), lambda seal: seal[::-1]),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_changed_number_breaks_the_seal(document, name):
    written, check = document
    path, change = EDITS[name]
    changed = json.loads(json.dumps(written))
    at(changed, path)[path[-1]] = change(at(changed, path)[path[-1]])
    check(changed, "not the one that was signed")


def test_the_numbers_of_another_training_break_the_seal(tmp_path):
    """Also with the seal of that training, by the same ledger: it signs its own steps."""
    ledger = MemoryLedger(epsilon=4)
    declared = {"bounds": (0, 1), "classes": [0, 1], "ledger": ledger}
    first, other = (
        to_document(learn.NaiveBayes(epsilon=1, **declared).fit(X, Y)) for _ in range(2)
    )
    path = tmp_path / "model.json"
    for changed in (first, first | {name: other[name] for name in ("model", "seal")}):
        path.write_text(json.dumps(changed))
        if changed is first:
            assert learn.verify(path).key == ledger.public_key
            continue
        with pytest.raises(InvalidCertificate, match="not the one that was signed"):
            learn.verify(path)


def test_edited_coefficients_are_neither_verified_nor_saved(tmp_path):
    """They follow from the moments, from which their intervals come."""
    model = learn.Ridge(epsilon=1, bounds=(0, 1), target_bounds=(0, 1)).fit(X, Y)
    written = learn.save(model, tmp_path / "model.json").read_text()
    model.model_.coefficients[0] += 0.25
    with pytest.raises(InvalidCertificate, match="not the one that was signed"):
        learn.verify(model)
    with pytest.raises(InvalidData, match="do not follow from its moments"):
        learn.save(model, tmp_path / "edited.json", certificates=False)
    assert not (tmp_path / "edited.json").exists()
    edited = json.loads(written)
    edited["model"]["intercept"] += 1e-9  # as near as another machine may add up
    (tmp_path / "model.json").write_text(json.dumps(edited))
    with pytest.raises(InvalidCertificate, match="not the one that was signed"):
        learn.verify(tmp_path / "model.json")


def test_an_edited_model_is_refused_until_it_is_saved_without_certificates(tmp_path):
    edited = fitted()
    assert learn.verify(edited).key
    edited.model_.tables[0][:] = 0
    with pytest.raises(InvalidCertificate, match="not the one that was signed"):
        learn.verify(edited)
    plain = learn.save(edited, tmp_path / "model.json", certificates=False)
    assert json.loads(plain.read_text())["seal"] is None
    assert learn.load(plain).seal_ is None


@pytest.mark.parametrize("seal", [7, "", "0" * 127, "G" * 128, "\u0660" * 128])
def test_a_seal_is_hexadecimal(document, tmp_path, seal):
    written, _ = document
    path = tmp_path / "spoilt.json"
    path.write_text(json.dumps(written | {"seal": seal}))
    with pytest.raises(InvalidData, match="128 hexadecimal digits"):
        learn.load(path)


def test_a_model_without_its_seal_is_refused(document):
    written, check = document
    check(written | {"seal": None}, "not the one that was signed")


def test_a_model_that_is_trained_again_has_the_certificates_of_that(model, tmp_path):
    """Those of its file are about another model."""
    read = learn.load(learn.save(model, tmp_path / "model.json"))
    read.set_params(bounds=(0, 1), classes=[0, 1]).fit(X, Y)
    assert read.certificates_ == tuple(release.certificate for release in read.releases_)
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
