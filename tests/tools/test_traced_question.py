import sys

import deniable as dp
from tools import traced_question


def test_calls_between_our_files_count_and_others_do_not():
    dp.PureLoss(1)  # imports are done
    calls = traced_question.trace(lambda: (dp.PureLoss(1), sorted([2, 1], key=str)))
    assert "privacy/losses/epsilon_loss.py" in calls.files
    assert all(not file.startswith("/") for file in calls.files)
    pairs = {pair for pair in calls.pairs if pair[0] != pair[1]}
    assert calls.changes == len(pairs)
    assert sys.getprofile() is None


def test_a_question_passes_through_kernel_ledger_and_release(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["traced_question", "--files"])
    assert traced_question.main() == 0
    told = capsys.readouterr().out
    assert "files, " in told
    for file in ("kernel/verdict.py", "ledger/charges.py", "release/session/door.py"):
        assert f"\n{file}: " in told
