import json
import re
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.csv
import pytest

from deniable import learn
from deniable.app.cli import progress

FIT = ("learn", "fit", "visits", "--target", "ward", "--features", "cost")


def test_fit_score_and_predict(run, tmp_path):
    held = ("--hold-out", "0.5", "--key", "k1")
    status, out, err = run(*FIT, "--epsilon", "1", *held)
    assert (status, err) == (0, "")
    assert "written to model.json" in out
    assert "Left: epsilon 2" in out
    assert json.loads((tmp_path / "model.json").read_text())
    words = ("learn", "score", "model.json", "visits", "--target", "ward", "--epsilon", "1")
    status, out, err = run(*words, *held)
    assert (status, err) == (0, "")
    assert "accuracy " in out
    assert "Charged: epsilon 1. Left: epsilon 2" in out  # the dearer of the two parts
    pa.csv.write_csv(pa.table({"cost": [1.0, 900.0]}), str(tmp_path / "new.csv"))
    status, out, _ = run("learn", "predict", "model.json", "new.csv")
    assert status == 0
    assert set(out.split()) <= {"A", "B", "C"}
    assert run("learn", "predict", "model.json", "new.csv", "--out", "told.csv")[0] == 0
    assert pa.csv.read_csv(str(tmp_path / "told.csv")).column_names == ["cost", "prediction"]


def test_explain_spends_nothing(run):
    status, out, _ = run(*FIT, "--epsilon", "3", "--explain")
    assert status == 0
    assert "NaiveBayes on visits at epsilon 3" in out
    assert run(*FIT, "--epsilon", "3")[0] == 0


def test_faults_are_said_before_the_charge(run):
    assert "Unknown model 'adittive'" in run(*FIT, "--epsilon", "1", "--model", "adittive")[2]
    assert "--epsilon 1" in run(*FIT)[2]
    assert "both or none" in run(*FIT, "--epsilon", "1", "--key", "k")[2]
    assert "cannot be written" in run(*FIT, "--epsilon", "1", "--out", "none/m.json")[2]
    assert "--epsilon" in run(*FIT, "--epsilom", "1")[2]
    assert run("learn", "predict", "none.json", "none.csv")[0] == 2
    assert run(*FIT, "--epsilon", "3")[0] == 0


def test_texts_of_a_csv_file_stay_texts(run, tmp_path):
    """Else 01 would be 1, which is not a key."""
    rows = pa.table({"zip": ["01", "02"] * 200})
    model = learn.NaiveBayes(epsilon=90, keys={"zip": ["01", "02"]}, classes=[0, 1])
    learn.save(model.fit(rows, [0, 1] * 200), tmp_path / "model.json")
    (tmp_path / "new.csv").write_text("ZIP,more\n01,5\n02,6\n02,7\n")
    assert run("learn", "predict", "model.json", "new.csv")[1].split() == ["0", "1", "1"]
    assert run("learn", "predict", "model.json", "none.csv")[0] == 2


def test_groups_are_compared_for_several_classes(run):
    assert run(*FIT, "--epsilon", "1")[0] == 0
    words = ("learn", "score", "model.json", "visits", "--target", "ward", "--epsilon", "1")
    status, out, _ = run(*words, "--group", "cost")
    assert status == 0
    shown = [line for line in out.splitlines() if line.startswith("accuracy of cost ")]
    assert len(shown) > 5
    assert all(re.search(r": \d\.\d+ \(\d", line) for line in shown)


def test_a_robust_slope_costs_epsilon_alone(run):
    words = ("learn", "fit", "visits", "--target", "cost", "--model", "robust-slope")
    assert "leave out --delta" in run(*words, "--epsilon", "1", "--delta", "1e-6")[2]
    assert "none. Name the numbers" in run(*words, "--epsilon", "1")[2]
    assert run(*FIT, "--epsilon", "3")[0] == 0


@pytest.mark.parametrize("model", ["ridge", "linear", "additive-number"])
def test_a_model_of_a_number_has_a_charged_score(run, model):
    words = ("learn", "fit", "visits", "--target", "cost", "--features", "ward")
    status, out, _ = run(*words, "--epsilon", "1", "--model", model)
    assert status == 0
    assert "Left: epsilon 2" in out
    words = ("learn", "score", "model.json", "visits", "--target", "cost", "--epsilon", "0.5")
    assert "is not compared by --group" in run(*words, "--group", "ward")[2]
    status, out, _ = run(*words)
    assert status == 0
    assert "R squared " in out
    assert "Charged: epsilon 0.5. Left: epsilon 1.5" in out


def test_a_terminal_shows_the_share_of_a_training_that_is_done(run, monkeypatch):
    told = []

    @contextmanager
    def shown(doing):
        assert doing == "training"
        yield told.append

    monkeypatch.setattr(progress, "show_progress", shown)
    status, out, _ = run(*FIT, "--epsilon", "1", "--model", "logistic")
    assert status == 0
    assert told == sorted(told)
    assert told[-1] == 1
    assert "progress" not in out


def test_a_model_file_is_verified(run, tmp_path):
    assert run(*FIT, "--epsilon", "1")[0] == 0
    status, out, _ = run("learn", "verify", "model.json")
    assert status == 1
    assert "1 step is certified" in out
    assert "Not computed again: how the model's numbers follow" in out
    key = json.loads((tmp_path / "model.json").read_text())["certificates"][0]["signature"][
        "key"
    ]
    assert run("learn", "verify", "model.json", "--key", key)[0] == 0
    assert run("learn", "verify", "model.json", "--key", "0" * 64)[0] == 2
