"""`deniable label`: words on the terminal, and a page; only of a release that holds."""

import json

from deniable.release.certificate.certificate import document_text

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def test_words_and_a_page(run, hospital):
    run("sql", COUNT, "--epsilon", "0.5", "--certificate", "release.json")
    status, out, err = run(
        "label", "release.json", "--html", "label.html", "--key", "deniable.ledger.key.pub"
    )
    assert (status, err) == (0, "")
    assert out.startswith("PRIVACY LABEL")
    assert "Each patient in visits is protected" in out
    page = (hospital / "label.html").read_text(encoding="utf-8")
    assert "Each patient in visits is protected" in page
    assert "&quot;COUNT(*)&quot; by ward, from visits" in page
    assert "which was given as the owner" in page


def test_only_of_what_holds(run, hospital):
    run("sql", COUNT, "--epsilon", "0.5", "--certificate", "release.json")
    document = json.loads((hospital / "release.json").read_text())
    document["certificate"]["statement"]["loss"]["epsilon"] = "1/1000"
    (hospital / "bad.json").write_text(document_text(document))
    status, out, err = run("label", "bad.json", "--html", "label.html")
    assert (status, out) == (2, "")
    assert "signature" in err
    assert not (hospital / "label.html").exists()


def test_a_label_of_unknown_hands_says_so(run, hospital):
    run("sql", COUNT, "--epsilon", "0.5", "--certificate", "release.json")
    status, out, _ = run("label", "release.json", "--html", "label.html")
    assert status == 1
    assert "Signed, but by whom is unknown" in out
    assert "Signed, but by whom is unknown" in (hospital / "label.html").read_text("utf-8")
