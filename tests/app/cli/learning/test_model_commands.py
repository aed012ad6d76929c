import json

import pyarrow as pa
import pyarrow.csv

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
