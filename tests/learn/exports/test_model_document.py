"""Documents of models: read back exactly, and refused if anything is wrong with them."""

import copy
import json

import numpy as np
import pytest

from deniable.errors import InvalidData
from deniable.learn.exports.model_document import read_model, write_model
from tests.learn.exports import models

ALL = {
    **models.cell_models(),
    "linear": models.linear_model(),
    "line": models.line_model(),
    "centres": models.centre_model(),
    "axes": models.axes_model(),
    "scaled axes": models.axes_model(scaled=True),
}
COLUMNS = dict(zip(models.VALUES, models.COLUMNS, strict=True))


def predictions(model):
    for name in ("predict", "nearest", "coordinates"):
        if hasattr(model, name):
            return getattr(model, name)(COLUMNS)
    return model.scores(models.COLUMNS)


@pytest.mark.parametrize("name", ALL)
def test_models_are_read_back_exactly(name):
    document = json.loads(json.dumps(write_model(ALL[name])))
    read = read_model(document)
    assert np.array_equal(predictions(read), predictions(ALL[name]))
    assert write_model(read) == document
    if name == "linear":
        assert read.intervals() == ALL[name].intervals()


def spoil(document):
    """Every way in which one value of a document can be replaced, with the path."""
    wrong = [None, "x", -1, 1e308, True, [], {}, [[]], ["x"] * 3, [1.0, [2.0]], {"a": 1}]

    def walk(node, path):
        places = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(places)[:6]:
            for other in wrong:
                if type(other) is not type(value) or other in ([], {}, "x"):
                    yield (*path, key), other
            if isinstance(value, dict | list):
                yield from walk(value, (*path, key))

    yield from walk(document, ())


@pytest.mark.parametrize("name", ALL)
def test_wrong_values_are_refused_or_harmless(name, size):
    """Never another error than ours, and never a model that cannot predict."""
    document = json.loads(json.dumps(write_model(ALL[name])))
    paths = list(spoil(document))
    most = size(small=150, full=len(paths), what=f"spoilt documents of {name}")
    chance = np.random.default_rng(1)
    refused = 0
    for place in chance.permutation(len(paths))[:most]:
        path, other = paths[place]
        spoilt = copy.deepcopy(document)
        node = spoilt
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = other
        try:
            model = read_model(spoilt)
        except InvalidData:
            refused += 1
        else:
            write_model(model)
    assert refused > most / 2


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("kind",), "pickle", "kind must be one of"),
        (("link",), "exec", "link must be one of"),
        (("classes",), ["yes", "yes"], "twice"),
        (("classes",), ["yes"], "do not fit"),
        (("intercept",), [float("nan")], "must be a number"),
        (("intercept",), [True], "must be a number"),
        (("features", 0, "cuts"), [65.5, 18.0], "must increase"),
        (("features", 0, "bounds"), [100.0, 0.0], "do not increase"),
        (("features", 0, "table"), [[1.0]], "does not fit"),
        (("features", 0, "kind"), "code", "not known"),
        (("features", 1, "name"), "AGE", "different names"),
        (("features", 1, "labels"), ["f", None, "m"], "None at the end"),
        (("features",), [], "different names"),
    ],
)
def test_faults_are_named(path, value, message):
    document = json.loads(json.dumps(write_model(models.cell_models()["sigmoid"])))
    node = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(InvalidData, match=message):
        read_model(document)


def test_unknown_fields_and_objects_are_refused():
    document = write_model(models.centre_model()) | {"script": "x"}
    with pytest.raises(InvalidData, match="script"):
        read_model(document)
    with pytest.raises(InvalidData, match="named fields"):
        read_model([])
    with pytest.raises(InvalidData, match="cannot be written"):
        write_model(object())
