"""Files to hand on: every number can be computed again, by programs that share no code."""

import csv
import io
import json
import shutil
import subprocess
import sys

import pytest

from deniable.surveys.questionnaire.manifest import read_manifest
from deniable.surveys.results.report_files import read_report_file, was_closed_at_will
from deniable.surveys.results.result_files import export_files, results_csv, results_json
from deniable.surveys.results.survey_results import find_results
from tests.surveys.collected import EVERY_KIND, ONE_QUESTION, answered, manifest_of, simulated

CROSSWISE = ONE_QUESTION.replace('design = "two-coins"', 'design = {crosswise = "1/4"}')
FURTHER = (
    EVERY_KIND.replace("epsilon = 8", "epsilon = 20")
    + """
[[questions]]
id = "many"
kind = "single-choice"
text = "Which of many?"
options = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"]
epsilon = 0.8
[[questions]]
id = "boxes"
kind = "multiple-choice"
text = "Which of seven?"
options = ["a", "b", "c", "d", "e", "f", "g"]
prefer_not_to_say = true
[[questions]]
id = "mood"
kind = "scale"
text = "Mood?"
points = 4
prefer_not_to_say = true
[[questions]]
id = "height"
kind = "number"
text = "Height?"
low = 140
high = 220
step = 5
private = false
prefer_not_to_say = true
[[questions]]
id = "clubs"
kind = "multiple-choice"
text = "Clubs?"
options = ["a", "b"]
private = false
"""
)


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """Folders: before and after the planned look, one question each, many kinds."""
    split = EVERY_KIND.replace("epsilon = 8", 'epsilon = 2\ncollection = "one-question-each"')
    surveys = {
        "early": (*simulated(EVERY_KIND, 100), {}),
        "planned": (*simulated(EVERY_KIND, 450, rehearsal=True), {"confidence": 0.9}),
        "split": (*simulated(split, 200), {}),
        "further": (*simulated(FURTHER, 80), {"closed": True}),
    }
    crossed = manifest_of(CROSSWISE)
    surveys["crosswise"] = (crossed, [answered(crossed, 300, 100)], {})
    surveys["inconsistent"] = (crossed, [answered(crossed, 400, 0)], {})
    folders = {}
    for name, (manifest, batches, how) in surveys.items():
        folder = tmp_path_factory.mktemp(name)
        for file, content in export_files(find_results(manifest, batches, **how)).items():
            (folder / file).write_bytes(content)
        folders[name] = folder
    return folders


NAMES = ["early", "planned", "split", "further", "crosswise", "inconsistent"]


def run(program, folder):
    return subprocess.run([*program, folder], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_python_script_reproduces_every_number(exports, name):
    folder = exports[name]
    done = run([sys.executable, "-I", folder / "reproduce.py"], folder)
    rows = len(list(csv.DictReader(io.StringIO((folder / "results.csv").read_text()))))
    assert done.stdout == f"{rows} of {rows} numbers reproduced.\n", done.stdout + done.stderr
    assert done.returncode == 0
    assert "deniable" not in (folder / "reproduce.py").read_text()


if shutil.which("Rscript"):  # Not a program that tests need: R takes long to install.

    @pytest.mark.parametrize("name", NAMES)
    def test_the_r_script_reproduces_every_number(exports, name):
        done = run(["Rscript", exports[name] / "reproduce.R"], exports[name])
        assert done.returncode == 0, done.stdout + done.stderr
        assert "numbers reproduced" in done.stdout
        assert "differs" not in done.stdout


def test_a_changed_report_or_number_is_noticed(exports, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(exports["early"], folder)
    lines = (folder / "reports.jsonl").read_text().splitlines(keepends=True)
    flipped = lines[0].replace('["doping","0"]', '["doping","2"]')
    flipped = flipped.replace('["doping","1"]', '["doping","0"]').replace("2", "1")
    (folder / "reports.jsonl").write_text("".join([flipped, *lines[1:]]))
    done = run([sys.executable, "-I", folder / "reproduce.py"], folder)
    assert done.returncode == 1
    assert "differs: doping yes" in done.stdout


def test_reports_and_manifest_are_those_that_were_sent():
    manifest, batches = simulated(EVERY_KIND, 100)
    files = export_files(find_results(manifest, batches))
    assert read_manifest(files["manifest.json"]) == manifest
    lines = [json.loads(line) for line in files["reports.jsonl"].decode().splitlines()]
    sent = [body for _, bodies in batches for body in bodies]
    written = [json.dumps(line["report"], separators=(",", ":")).encode() for line in lines]
    assert written == sent
    assert [line["batch"] for line in lines] == [1] * 50 + [2] * 50
    codebook = list(csv.DictReader(io.StringIO(files["codebook.csv"].decode())))
    assert ("doping", "1", "yes") in {
        (r["question"], r["answer"], r["label"]) for r in codebook
    }


def test_an_export_says_which_batch_came_by_closing(tmp_path):
    manifest, batches = simulated(EVERY_KIND, 410)
    for closed in (False, True):
        results = find_results(manifest, batches[:8], closed=closed)  # the 8th reaches 400
        files = export_files(results)
        (tmp_path / "r.jsonl").write_bytes(files["reports.jsonl"])
        assert was_closed_at_will(tmp_path / "r.jsonl") == closed
        assert read_report_file(manifest, tmp_path / "r.jsonl") == batches[:8]
        assert results.look == ("any" if closed else "planned")


def test_intervals_are_rounded_outwards():
    manifest = manifest_of(ONE_QUESTION)
    results = find_results(manifest, [answered(manifest, 401, 600)])
    for (_, number), row in zip(
        results.numbers, csv.DictReader(io.StringIO(results_csv(results))), strict=True
    ):
        low, high = number.reading.estimate.interval
        assert low - 1.01e-6 < float(row["low"]) <= low
        assert high <= float(row["high"]) < high + 1.01e-6


def test_every_line_of_a_rehearsal_says_so():
    manifest, batches = simulated(EVERY_KIND, 100, rehearsal=True)
    results = find_results(manifest, batches)
    rows = list(csv.DictReader(io.StringIO(results_csv(results))))
    assert {row["rehearsal"] for row in rows} == {"REHEARSAL"}
    content = json.loads(results_json(results))
    assert content["rehearsal"] is True
    assert content["notices"][0].startswith("REHEARSAL")
    assert len(content["numbers"]) == len(rows)
    assert export_files(results)["methods.txt"].startswith(b"REHEARSAL")


def test_no_cell_is_a_formula():
    manifest, batches = simulated(EVERY_KIND, 100)
    files = export_files(find_results(manifest, batches))
    for name in ("results.csv", "codebook.csv"):
        cells = [cell for row in csv.reader(io.StringIO(files[name].decode())) for cell in row]
        assert "'=cmd()" in cells
        risky = [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        assert all(float(cell) < 0 for cell in risky)  # negative numbers stay numbers
